"""LendingClub's raw rows as recipes that a model carries.

`parsing` and `cleaning` do the same to millions of rows in an engine; what both need to
know stands in `schema` and in the rules. A row whose date lies beyond the window is no
bad row here: the applications of tomorrow all do.
"""

from typing import Any, Final

from ridgeline.lendingclub.cleaning import SCORE_BAND, TOP_BAND, CleaningRules
from ridgeline.lendingclub.modelling import PURPOSE
from ridgeline.lendingclub.schema import (
    EMPLOYMENT_LEVELS,
    SOURCES,
    TITLE_PURPOSES,
    RawFile,
)
from ridgeline.preparation.recipes import Format, Preparation, Recipe, Step

__all__ = ["raw_preparation"]

_OTHERS: Final = "Others"


def raw_preparation(rules: CleaningRules) -> Preparation:
    """How rows of both published files become rows of the model."""
    return Preparation((_format("accepted", rules), _format("rejected", rules)))


def _format(kind: RawFile, rules: CleaningRules) -> Format:
    source = SOURCES[kind]
    number = Step("numbers", {"drop": ""})
    scores: tuple[str, ...]
    if kind == "accepted":
        date = Step("month", {})
        scores = (source["score_low"], source["score_high"])
        score = [number, Step("mean", {})]
    else:
        date = Step("day", {"exact": not rules.one_grid})
        scores = (source["risk_score"],)
        score = [number]
    score.append(_within(highest=rules.max_score))
    if rules.one_grid:
        score.append(Step("band", {"width": SCORE_BAND, "top": TOP_BAND}))
    dti = Step("numbers", {"drop": "%"}), _within(rules.min_dti, rules.max_dti)
    amount = number, _within(highest=rules.max_amount)
    titles: dict[str, Any] = dict(TITLE_PURPOSES)
    levels: dict[str, Any] = dict(EMPLOYMENT_LEVELS)
    recipes = (
        Recipe("application_date", (source["application_date"],), (date,)),
        Recipe("amount", (source["amount"],), amount),
        Recipe("risk_score", scores, tuple(score)),
        Recipe("dti", (source["dti"],), dti),
        Recipe(
            "employment_length",
            (source["employment_length"],),
            (_lookup(levels, None, fold=False),),
        ),
        Recipe(PURPOSE, (source["title"],), (_lookup(titles, _OTHERS, fold=True),)),
    )
    return Format(kind, recipes)


def _within(lowest: float | None = None, highest: float | None = None) -> Step:
    return Step("within", {"lowest": lowest, "highest": highest})


def _lookup(table: dict[str, Any], otherwise: str | None, *, fold: bool) -> Step:
    return Step("lookup", {"table": table, "otherwise": otherwise, "fold": fold})
