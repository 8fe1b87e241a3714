"""Surfaces of pairs, fitted to what the other components leave of the response.

A surface is linear in its values at the places of its axes, so that the best one is the
solution of a linear system, or of a few where the response is a class. It pays for its
bends along numeric axes, for differences from zero along categorical ones, and for its
size. To be pure it is sought among the values whose weighted sums with every function
of one column alone are zero: a basis of these is computed once for a pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ridgeline.xnn.features import Encoded, Features
from ridgeline.xnn.surfaces import Axis, Places, Surface, axis_cells

__all__ = [
    "Left",
    "PairDesign",
    "Penalty",
    "fit_surfaces",
    "learn_axis",
    "pair_design",
    "products",
    "unit_surface",
]

Floats = NDArray[np.float64]

# A number with more levels has this many knots, at its quantiles.
_MOST_LEVELS: Final = 24
_KNOTS: Final = 8
# Categories with a place of their own, the most frequent.
_MOST_CATEGORIES: Final = 12
_RANK: Final = 1e-9  # of the largest pivot, below which a constraint says nothing new
_STEPS: Final = 6  # of Newton, for classes
_ENOUGH: Final = 1e-5  # of the objective: a smaller gain ends the steps
_SMALLEST_CURVATURE: Final = 1e-4  # of a class that is all but certain


class Penalty(NamedTuple):
    """Prices of a surface, as if so many rows spoke against it."""

    bends: float
    size: float


@dataclass(frozen=True, eq=False)
class PairDesign:
    """A pair of columns, ready to be fitted."""

    axes: tuple[Axis, Axis]
    matrix: Any  # what each row takes of each value, sparse, (n, values)
    pure: Floats  # orthonormal basis of the values of pure surfaces, (values, basis)
    bends: Floats  # squared bends of a surface in that basis, (basis, basis)


class Left(NamedTuple):
    """What surfaces are fitted to: responses, and what has been decided so far."""

    target: Floats
    decision: Floats
    weight: Floats
    classify: bool

    def losses(self, added: Floats | float = 0.0) -> Floats:
        """Squared error or cross-entropy of each row, with more added."""
        decision = self.decision + added
        if self.classify:
            return np.asarray(np.logaddexp(0, decision) - self.target * decision)
        return np.asarray((self.target - decision) ** 2)

    def slopes(self, added: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """How steeply more of the decision lowers the loss, and how that bends."""
        decision = self.decision + added
        if not self.classify:
            return self.weight * (self.target - decision), self.weight
        chance = 0.5 + 0.5 * np.tanh(0.5 * decision)
        curvature = np.maximum(chance * (1 - chance), _SMALLEST_CURVATURE)
        return self.weight * (self.target - chance), self.weight * curvature


def learn_axis(
    features: Features, column: str, rows: Encoded, weight: Floats
) -> Axis | None:
    """The axis of a column, or None if its rows do not vary."""
    nothing = np.empty(0, dtype=np.int32)
    if column in features.categories:
        count = len(features.categories[column])
        axis = Axis(column, np.empty(0), np.zeros(count, dtype=np.int32))
        codes = axis_cells(features, axis, rows)
        known = codes >= 0
        totals = np.bincount(codes[known], weight[known], count)
        frequent = np.argsort(-totals, kind="stable")[:_MOST_CATEGORIES]
        frequent = np.sort(frequent[totals[frequent] > 0])
        if len(frequent) == 0 or np.count_nonzero(totals) == 1:
            return None
        # All others share the place behind these.
        levels = np.full(count, len(frequent), dtype=np.int32)
        levels[frequent] = np.arange(len(frequent))
        return Axis(column, np.empty(0), levels)
    axis = Axis(column, np.zeros(1), nothing)
    values = axis_cells(features, axis, rows)
    knots = np.unique(values)
    if len(knots) > _MOST_LEVELS:
        knots = np.unique(np.quantile(values, np.linspace(0, 1, _KNOTS)))
    return Axis(column, knots.astype(np.float64), nothing) if len(knots) > 1 else None


def pair_design(
    features: Features, axes: tuple[Axis, Axis], rows: Encoded, weight: Floats
) -> PairDesign:
    """What a fit of a pair needs to know about the training rows."""
    one, two = (axis.places(axis_cells(features, axis, rows)) for axis in axes)
    sizes = axes[0].size, axes[1].size
    matrix = _products(one, two, sizes)
    single = [_products(one, None, (sizes[0], 1)), _products(two, None, (sizes[1], 1))]
    weighted = matrix.multiply(weight[:, None]).tocsr()
    # Sums of a surface's values with every function of one of the columns alone.
    sums = sparse.vstack([part.T @ weighted for part in single]).toarray()
    q, r, _ = linalg.qr(sums.T, pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int(np.count_nonzero(pivots > _RANK * pivots.max(initial=0.0)))
    pure = np.asarray(q[:, rank:])
    bends = np.kron(_bends(axes[0]), np.eye(sizes[1]))
    bends += np.kron(np.eye(sizes[0]), _bends(axes[1]))
    return PairDesign(axes, matrix, pure, pure.T @ bends @ pure)


def fit_surfaces(
    designs: Sequence[PairDesign],
    left: Left,
    penalty: Penalty,
    *,
    steps: int = _STEPS,
    first_products: Floats | None = None,
) -> list[Floats]:
    """Values of pure surfaces that are best together, each of its axes' shape.

    Args:
        designs: The pairs.
        left: What they are fitted to.
        penalty: What they pay.
        steps: Newton's, where the response is a class.
        first_products: Those of the first step (`products`), for fits to the same rows
            with several penalties.
    """
    ends = np.cumsum([design.pure.shape[1] for design in designs])
    prices = linalg.block_diag(
        *(
            penalty.bends * design.bends + penalty.size * np.eye(len(design.bends))
            for design in designs
        )
    )
    found = np.zeros(len(prices))
    added = np.zeros(len(left.target))
    value = _objective(left, added, 0.0)
    for step in range(steps if left.classify else 1):
        slope, curvature = left.slopes(added)
        known = first_products if step == 0 else None
        weighted = products(designs, curvature) if known is None else known
        pull = np.concatenate([d.pure.T @ (d.matrix.T @ slope) for d in designs])
        factor = linalg.cho_factor(weighted + prices)
        move = linalg.cho_solve(factor, pull - prices @ found)
        moved = _rows(designs, move, ends)
        before = value
        # A step that is too long for the loss is cut: what is left is a descent.
        for _ in range(_STEPS):
            value = _objective(
                left, added + moved, (found + move) @ prices @ (found + move)
            )
            if value <= before:
                break
            move, moved = move / 2, moved / 2
        found, added = found + move, added + moved
        if before - value <= _ENOUGH * abs(before):
            break
    return [
        (design.pure @ part).reshape(design.axes[0].size, design.axes[1].size)
        for design, part in zip(designs, np.split(found, ends[:-1]), strict=True)
    ]


def unit_surface(
    design: PairDesign, values: Floats, weight: Floats
) -> tuple[Surface, float]:
    """A surface of norm 1 over the training rows, and its scale."""
    share = weight / weight.sum()
    of_rows = design.matrix @ values.ravel()
    scale = float(np.sqrt(share @ of_rows**2))
    shares = np.asarray(design.matrix.T @ share).reshape(values.shape)
    return Surface(design.axes, values / (scale or 1.0), shares), scale


def _products(one: Places, two: Places | None, sizes: tuple[int, int]) -> Any:
    """Rows' weights of all pairs of places, as a sparse matrix (n, places)."""
    count = len(one.lower)
    if two is None:
        nowhere = np.zeros(count, dtype=np.int32)
        two = Places(nowhere, nowhere, np.zeros(count), np.ones(count))
    total = sparse.csr_matrix((count, sizes[0] * sizes[1]))
    for place, share in ((one.lower, 1 - one.share), (one.upper, one.share)):
        for other, other_share in ((two.lower, 1 - two.share), (two.upper, two.share)):
            weights = one.known * two.known * share * other_share
            if weights.any():
                cells = np.arange(count), place * sizes[1] + other
                total += sparse.csr_matrix((weights, cells), shape=total.shape)
    return total


def _bends(axis: Axis) -> Floats:
    """The squares that an axis charges: second differences, or the values' own."""
    if not axis.numeric:
        return np.eye(axis.size)
    second = np.diff(np.eye(axis.size), 2, axis=0)
    return np.asarray(second.T @ second)


def products(designs: Sequence[PairDesign], curvature: Floats) -> Floats:
    """Weighted products of all values of all pairs, in the bases of pure surfaces."""
    # One sparse product of all pairs together: its cost is in the calls.
    matrix = sparse.hstack([design.matrix for design in designs], format="csr")
    weighted = matrix.multiply(curvature[:, None]).tocsr()
    whole = np.asarray((matrix.T @ weighted).toarray())
    ends = np.cumsum([len(design.pure) for design in designs])[:-1]
    rows = np.split(whole, ends)
    halves = [d.pure.T @ part for d, part in zip(designs, rows, strict=True)]
    columns = np.split(np.vstack(halves), ends, axis=1)
    return np.hstack([part @ d.pure for d, part in zip(designs, columns, strict=True)])


def _rows(
    designs: Sequence[PairDesign], move: Floats, ends: NDArray[np.intp]
) -> Floats:
    parts = zip(designs, np.split(move, ends[:-1]), strict=True)
    return np.asarray(
        sum(design.matrix @ (design.pure @ part) for design, part in parts)
    )


def _objective(left: Left, added: Floats, price: float) -> float:
    half = 1.0 if left.classify else 0.5
    return float(half * left.weight @ left.losses(added) + 0.5 * price)
