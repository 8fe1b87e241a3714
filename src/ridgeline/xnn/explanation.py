"""The explanation of a fitted network as data, and what may not be read from it.

A component is a ridge function with its projection, the effects of a categorical
feature, or the surface of a pair. All values are in the units of the decision: a
response, or log-odds.
NumPy alone; pandas is needed by what returns a data frame, matplotlib by `plot`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.coherence import Coherence, coherence, coherence_warnings
from ridgeline.xnn.columns import REFUSED, Unseen
from ridgeline.xnn.components import (
    CategoryComponent,
    Component,
    PairComponent,
    RidgeComponent,
    category_component,
    pair_component,
    ridge_component,
)
from ridgeline.xnn.contribution_frames import (
    By,
    contributions_by,
    contributions_frame,
    feature_parts_frame,
    feature_shares,
)
from ridgeline.xnn.identifiability import identifiability_warnings
from ridgeline.xnn.monotone import Certificate, certificates
from ridgeline.xnn.pair_component import surfaces_frame
from ridgeline.xnn.scorer import HasScorer, Scorer, scorer_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Explanation", "contributions_frame", "explain"]

Floats = NDArray[np.float64]
_NO_OVERLAP: Final = 0.005  # cosine that no reader sees
_REPR_COMPONENTS: Final = 6  # so that the text fits ten lines


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """A fitted network, taken apart; `explain` of a model returns it.

    Parameters
    ----------
    scorer : Scorer
        The fitted network.
    components : tuple of RidgeComponent, CategoryComponent and PairComponent
        The components in use, the most important first.
    warnings : tuple of str
        What should not be read from the components, a sentence each.
    unseen : Unseen
        What `contributions` does with cells whose like training has not seen.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNRegressor(max_epochs=50, random_state=0).fit(X, 5 * X[:, 1])
    >>> explanation = model.explain()
    >>> explanation.importance["component"][0]
    'ridge 1'
    >>> explanation.contributions(X[:5]).shape[0]
    5
    """

    scorer: Scorer
    components: tuple[Component, ...]
    warnings: tuple[str, ...]
    unseen: Unseen = REFUSED

    @property
    def intercept(self) -> float:
        """The decision where every component is at its mean."""
        return self.scorer.intercept

    @property
    def classes(self) -> tuple[Any, Any] | None:
        """The two labels of a classifier, or None for a regressor."""
        return self.scorer.classes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features that projections combine."""
        return self.scorer.features.projected_names

    @property
    def pruned(self) -> int:
        """How many more components the network has that add nothing."""
        return len(self.scorer.component_names) - len(self.components)

    @property
    def task(self) -> Literal["regression", "classification"]:
        """What is predicted."""
        return self.scorer.task

    @property
    def unit(self) -> str:
        """What the components add up to, as a label for an axis."""
        return "response" if self.classes is None else f"log-odds of {self.classes[1]}"

    @property
    def ridges(self) -> tuple[RidgeComponent, ...]:
        """The ridge components, the most important first."""
        return tuple(c for c in self.components if isinstance(c, RidgeComponent))

    @property
    def category_effects(self) -> tuple[CategoryComponent, ...]:
        """The categorical components, the most important first."""
        return tuple(c for c in self.components if isinstance(c, CategoryComponent))

    @property
    def pairs(self) -> tuple[PairComponent, ...]:
        """The pairs of columns, the most important first."""
        return tuple(c for c in self.components if isinstance(c, PairComponent))

    @property
    def importance(self) -> "pd.DataFrame":
        """A row for each component: what it is a function of, its kind and ratio."""
        import pandas as pd

        return pd.DataFrame(
            {
                "component": [c.name for c in self.components],
                "function_of": [c.function_of for c in self.components],
                "kind": [c.kind for c in self.components],
                "importance": np.array([c.importance for c in self.components]),
                "scale": np.array([c.scale for c in self.components]),
            }
        )

    @property
    def feature_importance(self) -> "pd.Series[float]":
        """Importance by feature, the largest first.

        A component's importance ratio is shared among its features by their squared
        weights, which add up to one in an orthonormal projection. How much each one
        counts in a single row is in `contributions(X, by="feature")`.
        """
        import pandas as pd

        shares = feature_shares(self.scorer)
        index = pd.Index(shares, name="feature")
        return pd.Series(shares.values(), index=index, name="importance", dtype=float)

    @property
    def coherence(self) -> Coherence:
        """How far the projections in use overlap."""
        return coherence(self.scorer)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What the curves prove about each monotone feature."""
        return certificates(self.scorer)

    @property
    def monotone(self) -> "pd.DataFrame":
        """A row for each monotone feature: its direction, and what is proved.

        `smallest_slope` is a bound of the slope in that direction, for the feature
        scaled to [-1, 1], over all rows whose cells lie in the ranges of the training
        rows; where it is not negative, the direction holds for every one of them.
        """
        import pandas as pd

        found = pd.DataFrame(self.certificates, columns=Certificate._fields)
        return found.assign(holds=[each.holds for each in self.certificates])

    @property
    def projections(self) -> "pd.DataFrame":
        """Weights: a row for each numeric feature, a column for each ridge."""
        import pandas as pd

        return pd.DataFrame(
            {c.name: c.weights for c in self.ridges},
            index=pd.Index(self.feature_names, name="feature"),
        )

    @property
    def curves(self) -> "pd.DataFrame":
        """Ridge functions: a row for each component and z, with value and density.

        `x` is z in the unit of the one feature that makes up the projection, whose
        name `feature` has; in a mixture there is none, and `x` is z.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "component": [c.name for c in self.ridges for _ in c.z],
                "feature": [c.feature for c in self.ridges for _ in c.z],
                "x": _joined(c.x for c in self.ridges),
                "z": _joined(c.z for c in self.ridges),
                "value": _joined(c.curve for c in self.ridges),
                "density": _joined(c.density for c in self.ridges),
            }
        )

    @property
    def categories(self) -> "pd.DataFrame":
        """A row for each component and category: its effect, and how many rows had it.

        Special values of numeric columns are here too. `rows` is missing in a model
        that was saved by Ridgeline 0.1.
        """
        import pandas as pd

        found = self.category_effects
        return pd.DataFrame(
            {
                "component": [c.name for c in found for _ in c.categories],
                "category": [label for c in found for label in c.labels],
                "effect": _joined(c.effects for c in found),
                "share": _joined(c.shares for c in found),
                "rows": _joined(c.rows for c in found),
            }
        )

    @property
    def surfaces(self) -> "pd.DataFrame":
        """A row for each pair and place of its two columns: what it adds there.

        `first` and `second` are values of numbers in their own unit, or categories, and
        `share` is that of the training rows about this place.
        """
        return surfaces_frame(self.pairs)

    def contributions(self, X: Any, by: By = "component") -> "pd.DataFrame":
        """Compute what each component, or each feature, adds to the decision.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the training rows.
        by : {"component", "feature"}, default="component"
            Whose contributions. By feature, each component's part of a row is shared
            among its features: by Shapley's values, with the mean of the training
            rows in the place of an absent feature.

        Returns
        -------
        DataFrame of shape (n_samples, n_components + 2 or n_features_in_use + 2)
            The intercept, the components or features in use, the most important
            first, and the decision, which is their sum. The index is that of X, where
            it has one.
        """
        return contributions_by(by, self.scorer, X, self.unseen)

    def feature_parts(self, X: Any) -> "pd.DataFrame":
        """Compute what each feature adds by itself, and what by interaction.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the training rows.

        Returns
        -------
        DataFrame of shape (n_samples * n_features_in_use, 2)
            A line for each row of X and feature, named by both. `main` is what the
            feature adds while the others in its components are at their mean, and
            `interaction` the rest of its share; the sum of the two is its column of
            `contributions(X, by="feature")`.
        """
        return feature_parts_frame(self.scorer, X, self.unseen)

    def plot(self, **options: Any) -> "Figure":
        """Draw the components; the options are those of `ridgeline.plot_explanation`.

        Parameters
        ----------
        **options : dict
            Such as `max_components`, `max_bars` and `width`.

        Returns
        -------
        Figure
            A matplotlib figure of its own.
        """
        from ridgeline.xnn.plots import plot_explanation

        return plot_explanation(self, **options)

    def __repr__(self) -> str:
        shown = self.components[:_REPR_COMPONENTS]
        width = max((len(_cut(c.name)) for c in shown), default=0)
        lines = [
            f"Explanation of a {self.task}: {len(self.components)} components in use, "
            f"{self.pruned} pruned"
        ]
        lines += [
            f"  {_cut(c.name):<{width}} {c.importance:>6.1%}  {_cut(c.function_of)}"
            for c in shown
        ]
        rest = self.components[len(shown) :]
        if rest:
            share = sum(component.importance for component in rest)
            lines.append(f"  and {len(rest)} more {share:.1%}")
        lines += [f"  {sentence}" for sentence in self._constraints()]
        if self.warnings:
            lines.append(f"  .warnings has {len(self.warnings)} on how to read them")
        return "\n".join(lines)

    def _constraints(self) -> list[str]:
        """What holds beyond the paper's model, in words."""
        sentences = []
        if (cosine := self.coherence.largest_cosine) > _NO_OVERLAP:
            sentences.append(f"projections overlap: largest cosine {cosine:.2f}")
        if proved := self.certificates:
            held = sum(each.holds for each in proved)
            sentences.append(f"monotone: {held} of {len(proved)} features certified")
        return sentences

    def _repr_html_(self) -> str:
        """The components as a table with bars, for notebooks."""
        rows = "".join(
            f"<tr><td>{escape(c.name)}</td><td>{escape(c.function_of)}</td>"
            f"<td>{c.kind}</td><td><meter value='{c.importance:.4f}'></meter> "
            f"{c.importance:.1%}</td></tr>"
            for c in self.components
        )
        said = [*self._constraints(), *self.warnings]
        warnings = "".join(f"<p>{escape(sentence)}</p>" for sentence in said)
        return (
            f"<p>{len(self.components)} components in use, {self.pruned} pruned; they "
            f"add up to the {escape(self.unit)}, with an intercept of "
            f"{self.intercept:.3g}.</p><table><thead><tr><th>component</th>"
            "<th>function of</th><th>kind</th><th>importance ratio</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{warnings}"
        )


def explain(model: Scorer | HasScorer, points: int = 200) -> Explanation:
    """Take a fitted network apart.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted estimator, or a network that `ridgeline.load` has read.
    points : int, default=200
        How many values each ridge function is given at.

    Returns
    -------
    Explanation
        The components as data frames and figures.
    """
    scorer = scorer_of(model)
    if points < 2:  # noqa: PLR2004
        message = f"points is {points}; a curve needs at least 2."
        raise InputError(message)
    ridges = [
        ridge_component(scorer, int(place), points)
        for place in np.flatnonzero(scorer.scales)
    ]
    effects = [
        category_component(scorer, int(place))
        for place in np.flatnonzero(scorer.category_scales)
    ]
    pairs = [
        pair_component(scorer, int(place))
        for place in np.flatnonzero(scorer.pair_scales)
    ]
    components: list[Component] = [*ridges, *effects, *pairs]
    # The sort is stable: where importance is equal, the scorer's order stays.
    components.sort(key=lambda component: -component.importance)
    return Explanation(
        scorer=scorer,
        components=tuple(components),
        warnings=identifiability_warnings(ridges) + coherence_warnings(scorer),
        unseen=_unseen_of(model),
    )


def _unseen_of(model: Any) -> Unseen:
    """What a fitted estimator does with strange cells; a network refuses them."""
    if isinstance(model, Scorer):
        return REFUSED
    return Unseen(
        getattr(model, "unknown_category", "error"),
        getattr(model, "unknown_missing", "error"),
        getattr(model, "beyond_range", "edge"),
    )


def _cut(text: str, longest: int = 50) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _joined(parts: Iterable[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])
