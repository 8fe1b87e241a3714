"""The paper's network as a straightforward Keras model, to measure against.

What one writes first from the paper: a projection, one small stack of layers for each
subnetwork, nested gradient tapes for the second derivatives, Keras's Adam, the Cayley
transform by a linear solve, and a training step in a `tf.function`. Everything that
matters for the result is as in Ridgeline: roughness of the normalised functions,
normalisation over all training rows for validation, best weights restored.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

Floats = NDArray[np.float32]

VARIANCE_FLOOR = 1e-8


class Penalties(NamedTuple):
    """Strengths of the penalties; the defaults are the paper's."""

    projection: float = 1e-3
    scales: float = 1e-3
    roughness: float = 1e-6


class Subnetwork(keras.layers.Layer):
    """A ridge function: a stack of layers, then normalisation with momentum zero."""

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        layers = [
            keras.layers.Dense(
                units, activation="tanh", kernel_initializer="glorot_normal"
            )
            for units in hidden
        ]
        layers.append(keras.layers.Dense(1, kernel_initializer="glorot_normal"))
        self.stack = keras.Sequential(layers)
        self.stack.build((None, 1))
        self.mean = self.add_weight(shape=(), initializer="zeros", trainable=False)
        self.variance = self.add_weight(shape=(), initializer="ones", trainable=False)

    def call(self, z: Any, training: bool = False) -> Any:
        """Normalised values, shape (rows, 1)."""
        return self._normalised(self.stack(z), training)

    def with_roughness(self, z: Any) -> tuple[Any, Any]:
        """Normalised values, and their mean squared second derivative."""
        with tf.GradientTape() as outer:
            outer.watch(z)
            with tf.GradientTape() as inner:
                inner.watch(z)
                raw = self.stack(z)
            first = inner.gradient(raw, z)
        second = outer.gradient(first, z)
        variance = tf.math.reduce_variance(raw) + VARIANCE_FLOOR
        roughness = tf.reduce_mean(tf.square(second)) / variance
        return self._normalised(raw, training=True), roughness

    def _normalised(self, raw: Any, training: bool) -> Any:
        mean, variance = self.mean.value, self.variance.value
        if training:
            mean, variance = tf.nn.moments(raw, axes=[0, 1])
            self.mean.assign(mean)
            self.variance.assign(variance)
        return (raw - mean) * tf.math.rsqrt(variance + VARIANCE_FLOOR)


class KerasXNN(keras.Model):
    """y = mu + sum_j beta_j h_j(w_j' x), with orthonormal projections w_j."""

    def __init__(self, p: int, k: int, hidden: tuple[int, ...] = (10, 6)) -> None:
        super().__init__()
        self.projection = self.add_weight(shape=(p, k), initializer="orthogonal")
        self.subnetworks = [Subnetwork(hidden) for _ in range(k)]
        self.output_layer = keras.layers.Dense(1, kernel_initializer="glorot_normal")
        self.output_layer.build((None, k))

    def call(self, x: Any, training: bool = False) -> Any:
        """Predictions, shape (rows,)."""
        columns = self._projected(x)
        curves = [
            subnetwork(z, training=training)
            for subnetwork, z in zip(self.subnetworks, columns, strict=True)
        ]
        return self.output_layer(tf.concat(curves, axis=1))[:, 0]

    def objective(self, x: Any, y: Any, penalties: Penalties) -> Any:
        """Squared error and the three penalties of a batch."""
        pairs = [
            subnetwork.with_roughness(z)
            for subnetwork, z in zip(self.subnetworks, self._projected(x), strict=True)
        ]
        curves, roughness = zip(*pairs, strict=True)
        predicted = self.output_layer(tf.concat(curves, axis=1))[:, 0]
        scales = self.output_layer.kernel.value
        return (
            tf.reduce_mean(tf.square(predicted - y))
            + penalties.projection * tf.reduce_sum(tf.abs(self.projection.value))
            + penalties.scales * tf.reduce_sum(tf.abs(scales))
            + penalties.roughness * tf.add_n(list(roughness))
        )

    def _projected(self, x: Any) -> list[Any]:
        k = self.projection.shape[1]
        return tf.split(tf.matmul(x, self.projection.value), k, axis=1)


class Trainer:
    """SOS-BP for a `KerasXNN`: Cayley transform for W, Keras's Adam for the rest.

    Args:
        training: Scaled features and responses.
        validation: The same of the rows that decide when to stop.
        k: Subnetworks.
        seed: Of the weights and the shuffling.
        batch_size: Rows in a batch; what is left at the end of an epoch is dropped.
        rate: Adam's step.
        tau: The Cayley step.
    """

    def __init__(
        self,
        training: tuple[Floats, Floats],
        validation: tuple[Floats, Floats],
        *,
        k: int = 10,
        seed: int = 0,
        batch_size: int = 1000,
        rate: float = 0.001,
        tau: float = 0.1,
    ) -> None:
        keras.utils.set_random_seed(seed)
        self._rng = np.random.default_rng(seed)
        self._batch_size, self._tau = batch_size, tau
        self._training = tuple(map(tf.constant, training))
        self._validation = tuple(map(tf.constant, validation))
        self.model = KerasXNN(training[0].shape[1], k)
        self._others = [
            variable
            for variable in self.model.trainable_variables
            if variable is not self.model.projection
        ]
        self._adam = keras.optimizers.Adam(rate)
        self._adam.build(self._others)

    @tf.function
    def step(self, index: Any) -> Any:
        """One step on the rows of the index; returns the objective before it."""
        x, y = (tf.gather(column, index) for column in self._training)
        projection = self.model.projection
        with tf.GradientTape() as tape:
            value = self.model.objective(x, y, Penalties())
        variables = [projection.value, *(one.value for one in self._others)]
        gradient, *gradients = tape.gradient(value, variables)
        point = tf.convert_to_tensor(projection.value)
        product = tf.matmul(gradient, point, transpose_b=True)
        skew = 0.5 * self._tau * (product - tf.transpose(product))
        identity = tf.eye(len(point))
        projection.assign(
            tf.linalg.solve(identity + skew, tf.matmul(identity - skew, point))
        )
        self._adam.apply(gradients, self._others)
        return value

    @tf.function
    def evaluate(self) -> Any:
        """Validation loss, normalised by one pass over all training rows."""
        self.model(self._training[0], training=True)
        x, y = self._validation
        return tf.reduce_mean(tf.square(self.model(x) - y))

    def run_steps(self) -> int:
        """An epoch's steps alone; returns how many."""
        rows = len(self._training[0])
        order = self._rng.permutation(rows).astype(np.int32)
        batches = rows // self._batch_size
        for index in order[: batches * self._batch_size].reshape(batches, -1):
            self.step(tf.constant(index))
        return batches

    def run_epoch(self) -> float:
        """An epoch with its evaluation; returns the validation loss."""
        self.run_steps()
        return float(self.evaluate())

    def fit(self, max_epochs: int, patience: int) -> int:
        """Trains to the early stop and restores the best weights; returns epochs."""
        best, waited, kept = np.inf, 0, self.model.get_weights()
        epochs = 0
        while epochs < max_epochs and waited < patience:
            loss = self.run_epoch()
            epochs, waited = epochs + 1, waited + 1
            if loss < best:
                best, waited, kept = loss, 0, self.model.get_weights()
        self.model.set_weights(kept)
        return epochs
