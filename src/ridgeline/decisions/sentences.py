"""Reasons in words that a notice can carry."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.policy import Policy
from ridgeline.decisions.references import ComparedWith
from ridgeline.xnn.scorer import Scorer

if TYPE_CHECKING:
    from ridgeline.decisions.reasons import Reasons

__all__ = ["Speaker"]

Floats = NDArray[np.float64]


class Speaker:
    """Writes sentences about cells, one feature at a time."""

    def __init__(self, scorer: Scorer, policy: Policy, reference: ComparedWith) -> None:
        self._scorer = scorer
        self._policy = policy
        self._reference = reference

    def sentences(
        self, frame: pd.DataFrame, rows: NDArray[np.intp], found: "Reasons"
    ) -> NDArray[Any]:
        """A sentence for each reason, None where there is none.

        Args:
            frame: Cleaned rows.
            rows: Those that the reasons are of.
            found: Their reasons.
        """
        texts = np.full(found.features.shape, None, dtype=object)
        for place, name in enumerate(self._scorer.features.names):
            at = np.nonzero(found.features == place)
            if len(at[0]):
                cells = frame[name].to_numpy()[rows[at[0]]]
                texts[at] = self._about(place, name, cells)
        return texts

    def _about(self, place: int, name: str, cells: NDArray[Any]) -> list[str]:
        if name in self._scorer.features.categories:
            table = {one: self._of_category(name, one) for one in set(cells.tolist())}
            return [table[cell] for cell in cells.tolist()]
        return self._of_numbers(place, name, cells.astype(np.float64))

    def _of_category(self, name: str, cell: Any) -> str:
        if cell is None or cell != cell:  # noqa: PLR0124  # NaN does not equal itself
            return self._said("missing", name, "")
        return self._said("category", name, str(cell))

    def _of_numbers(self, place: int, name: str, values: Floats) -> list[str]:
        """The text around a number is the same for all cells of a kind."""
        typical = self._reference.typical[place]
        kinds = np.where(values > typical, "above", "same")
        kinds = np.where(values < typical, "below", kinds)
        codes = self._scorer.features.numbers[name].codes
        kinds = np.where(np.isin(values, codes), "special", kinds)
        kinds = np.where(np.isnan(values), "missing", kinds).tolist()
        mark = "\x00"
        around = {kind: self._said(kind, name, mark).split(mark) for kind in set(kinds)}
        write = self._policy.formats.get(name, "{:,.6g}").format
        return [
            write(value).join(around[kind])
            for kind, value in zip(kinds, values.tolist(), strict=True)
        ]

    def _said(self, kind: str, name: str, value: str) -> str:
        return self._policy.sentence(kind).format(
            label=self._policy.label(name),
            value=value,
            reference=self._reference.words,
        )
