"""Drift: how far the rows of a table have moved from the training rows.

The population stability index of a feature, a component or the score compares shares of
rows in bins, now and in training:

    PSI = sum over bins of (share now - share then) * log(share now / share then)

Below 0.10 a distribution counts as stable, up to 0.25 as moving, above as drifted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.cells import clean
from ridgeline.decisions.policy import Policy
from ridgeline.decisions.reasons import good_rows
from ridgeline.decisions.references import profile_of
from ridgeline.errors import InputError
from ridgeline.xnn.scorer import HasScorer, Scorer, scorer_of, without_range_warnings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DRIFTED", "MOVING", "Drift", "DriftMeter", "Moved", "drift", "verdict"]

Floats = NDArray[np.float64]
MOVING: Final = 0.10
DRIFTED: Final = 0.25
# A share of nothing would make the index infinite.
_SMALLEST: Final = 1e-4
_MEASURED: Final = Policy(unknown_category="refuse", unknown_missing="refuse")


@dataclass(frozen=True, eq=False)
class Moved:
    """One distribution, then and now."""

    kind: str  # "score", "component" or "feature"
    name: str
    bins: tuple[str, ...]  # in words
    then: Floats
    now: Floats

    @property
    def psi(self) -> float:
        """The population stability index."""
        then, now = (np.maximum(each, _SMALLEST) for each in (self.then, self.now))
        return float(((now - then) * np.log(now / then)).sum())


@dataclass(frozen=True, eq=False)
class Drift:
    """How far a table has moved; `ridgeline.drift` returns it.

    Parameters
    ----------
    moved : tuple of Moved
        The score, the components in use and the features.
    rows : int
        How many rows there were.
    refused : int
        Of these, how many could not be scored; their features are compared too.
    training_rows : int
        How many rows the model was trained on.
    """

    moved: tuple[Moved, ...]
    rows: int
    refused: int
    training_rows: int

    @property
    def table(self) -> pd.DataFrame:
        """Kind, name, PSI, what chance alone gives on average, and the verdict."""
        scored = self.rows - self.refused
        rows = [
            {
                "kind": one.kind,
                "name": one.name,
                "psi": one.psi,
                "by_chance": (len(one.then) - 1)
                * (
                    1 / max(self.rows if one.kind == "feature" else scored, 1)
                    + 1 / self.training_rows
                ),
                "verdict": verdict(one.psi),
            }
            for one in self.moved
        ]
        return pd.DataFrame(rows)

    def plot(self) -> "Figure":
        """Draw the index of each feature and component against the two limits."""
        from ridgeline.decisions.drift_plot import plot_drift

        return plot_drift(self)

    def save(self, path: str | Path) -> None:
        """Write one HTML page that needs no other file."""
        from ridgeline.decisions.drift_page import drift_page
        from ridgeline.files import replace_file

        replace_file(path, drift_page(self).encode())


class DriftMeter:
    """Counts rows chunk by chunk, in memory that does not grow."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._profile = profile = profile_of(scorer)
        self._used = np.flatnonzero(scorer.all_scales)
        # One place more than shares, for what training has not seen.
        self._features = {
            name: np.zeros(len(each.whole) + 1)
            for name, each in profile.columns.items()
        }
        self._components = {
            name: np.zeros(len(each.shares))
            for name, each in profile.components.items()
        }
        self._score = np.zeros(len(profile.score.shares))
        self._rows = self._refused = 0

    def count(self, frame: pd.DataFrame) -> None:
        """Counts the rows of a chunk.

        Raises:
            InputError: If columns are missing.
        """
        cleaned = clean(self._scorer, frame, _MEASURED)
        self._rows += len(frame)
        self._refused += int((~cleaned.good).sum())
        for name, each in self._profile.columns.items():
            at = each.places(self._scorer.features, name, cleaned.frame[name])
            self._features[name] += np.bincount(at, minlength=len(each.whole) + 1)
        rows = good_rows(cleaned)
        if not len(rows):
            return
        with without_range_warnings():
            terms = self._scorer.contributions(rows, _MEASURED.unseen)
        used = zip(self._used, self._profile.components.items(), strict=True)
        for place, (name, histogram) in used:
            _add(self._components[name], histogram.places(terms[:, place]))
        decision = self._scorer.intercept + terms.sum(axis=1)
        _add(self._score, self._profile.score.places(decision))

    def result(self) -> Drift:
        """What was counted so far.

        Raises:
            InputError: If no row could be scored.
        """
        if self._rows == self._refused:
            message = (
                f"None of {self._rows} rows can be scored, so that nothing can be "
                "compared; check the table's columns."
            )
            raise InputError(message)
        profile = self._profile
        score = profile.score
        moved = [_moved("score", "score", score, self._score)]
        moved += [
            _moved("component", name, each, self._components[name])
            for name, each in profile.components.items()
        ]
        moved += [
            Moved(
                "feature",
                name,
                _column_bins(self._scorer, name),
                np.append(each.whole, 0.0),
                self._features[name] / self._rows,
            )
            for name, each in profile.columns.items()
        ]
        return Drift(tuple(moved), self._rows, self._refused, profile.rows)


def drift(model: Scorer | HasScorer, X: pd.DataFrame | Iterable[pd.DataFrame]) -> Drift:
    """Compare a table with the training rows that a model remembers.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted model that remembers its training rows.
    X : data frame, or iterable of data frames
        The rows, at once or in chunks.

    Returns
    -------
    Drift
        A table of population stability indices, a figure, and a page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ridgeline import XNNRegressor, drift
    >>> X = pd.DataFrame({"income": np.linspace(10, 90, 400)})
    >>> model = XNNRegressor(max_epochs=30, random_state=0).fit(X, X["income"])
    >>> drift(model, X + 30).table["verdict"].iloc[-1]
    'drifted'
    """
    meter = DriftMeter(scorer_of(model))
    for frame in [X] if isinstance(X, pd.DataFrame) else X:
        meter.count(frame)
    return meter.result()


def verdict(psi: float) -> str:
    """The name of an index: stable, moving or drifted."""
    return "stable" if psi < MOVING else "moving" if psi < DRIFTED else "drifted"


def _add(counts: Floats, places: NDArray[np.intp]) -> None:
    counts += np.bincount(places, minlength=len(counts))


def _moved(kind: str, name: str, each: Any, counts: Floats) -> Moved:
    bins = _number_bins(each.edges)
    return Moved(kind, name, bins, each.shares, counts / counts.sum())


def _number_bins(edges: Floats) -> tuple[str, ...]:
    """Bins in words; the outer ones have all that lies beyond."""
    inner = edges[1:-1]
    if not len(inner):
        return ("any",) if len(edges) else ()
    middle = zip(inner[:-1], inner[1:], strict=True)
    between = [f"{low:,.4g} to {high:,.4g}" for low, high in middle]
    return (f"below {inner[0]:,.4g}", *between, f"from {inner[-1]:,.4g} on")


def _column_bins(scorer: Scorer, name: str) -> tuple[str, ...]:
    features = scorer.features
    number = features.numbers.get(name)
    if number is None:
        known = [_value(one) for one in features.categories[name]]
        return (*known, "not seen in training")
    bins = _number_bins(profile_of(scorer).columns[name].edges)
    special = [_value(one) for one in number.special_values]
    return (*bins, *special, "not seen in training")


def _value(one: Any) -> str:
    if one is None:
        return "missing"
    return f"{one:g}" if isinstance(one, float) else str(one)
