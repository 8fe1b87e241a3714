"""What a fitted model says, in sentences that are computed from it."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.reporting.comparison import figure_text, main_metric
from ridgeline.reporting.labels import (
    Labels,
    category_texts,
    component_title,
    label_of,
)
from ridgeline.reporting.own_axis import OwnAxis, own_axis
from ridgeline.reporting.words import listed, percent, value_text
from ridgeline.xnn.components import (
    CategoryComponent,
    PairComponent,
    RidgeComponent,
)
from ridgeline.xnn.explanation import Explanation, explain
from ridgeline.xnn.scorer import Scorer

__all__ = ["component_findings", "curve_shape_text", "model_findings"]

Floats = NDArray[np.float64]

_NEGLIGIBLE: Final = 0.03  # share of the importance
_TURN: Final = 0.1  # share of a curve's range that makes a turn, not a ripple
_STEP_RISE: Final = 0.6  # share of a monotone curve's range within ...
_STEP_WIDTH: Final = 0.2  # ... this share of the axis makes a step
_HUGE: Final = 1_000  # a factor of the odds beyond which its size says nothing more
_WHOLE: Final = 100  # a number from which on decimals say nothing
_NAMED: Final = 3  # special values of either kind
_CORE: Final = 0.98  # of the rows; beyond them a curve rests on a handful


class _Words(NamedTuple):
    """How the sentences call things."""

    labels: Labels
    row: str
    rows: str
    odds: bool  # what a model adds up is log-odds, and not a number

    @property
    def outcome(self) -> str:
        return "odds" if self.odds else "prediction"


def component_findings(
    scorer: Scorer,
    means: Mapping[str, float],
    labels: Labels,
    row: str,
    rows: str | None = None,
) -> list[str]:
    """What matters, how, and what does not.

    Args:
        row: What a row of the data is, in the singular, such as "application".
        rows: The same in the plural; without it an "s" is added.
    """
    words = _Words(labels, row, rows or f"{row}s", scorer.classes is not None)
    explanation = explain(scorer)
    if not explanation.components:
        return [f"No feature matters: the model gives every {row} the same score."]
    important = explanation.feature_importance
    shares = {str(name): share for name, share in important.items()}
    shares |= {n: 0.0 for n in scorer.features.categories if n not in shares}
    found = [_most_important(shares, labels)]
    for component in explanation.components:
        if component.importance < _NEGLIGIBLE:
            continue
        if isinstance(component, CategoryComponent):
            sentence = _special_sentence if component.special else _category_sentence
            found.append(sentence(component, words))
        elif isinstance(component, PairComponent):
            found.append(_pair_sentence(component, words))
        else:
            axis = own_axis(component, scorer.features, means)
            found.append(_ridge_sentence(component, axis, words))
    small = [
        f"{label_of(name, labels).title.lower()} ({percent(share)})"
        for name, share in shares.items()
        if share < _NEGLIGIBLE
    ]
    if small:
        found.append(f"Hardly used by the model: {listed(small)}.")
    return [*found, *_monotone_sentences(explanation, words), *explanation.warnings]


def curve_shape_text(x: Floats, curve: Floats, unit: str) -> str:
    """Says where a curve rises and falls, with turns that are more than ripples."""
    reach = float(np.ptp(curve))
    if reach == 0:
        return "is level"
    turns = _turns(curve, _TURN * reach)
    if not turns:
        way = "rises" if curve[-1] > curve[0] else "falls"
        return f"{way} throughout{_step(x, curve, unit)}"
    if len(turns) == 1:
        at = _about(float(x[turns[0]]), unit)
        if curve[turns[0]] > curve[0]:
            return f"rises until {at}, where it peaks, and falls after"
        return f"falls until {at}, where it is lowest, and rises after"
    high, low = (_about(float(x[f(curve)]), unit) for f in (np.argmax, np.argmin))
    times = "twice" if len(turns) == 2 else f"{len(turns)} times"  # noqa: PLR2004
    return f"turns {times}, with its peak at {high} and its low at {low}"


def model_findings(comparison: pd.DataFrame, model: str) -> list[str]:
    """How a model compares with the best and the worst of the others."""
    own = comparison[comparison["model"] == model]
    # Other stages of the same network are no baselines.
    family = model.split(".", maxsplit=1)[0]
    others = comparison[comparison["model"].str.split(".").str[0] != family]
    if own.empty:
        return []
    metric = main_metric(comparison)
    name = metric.name
    mine = own.iloc[0]
    article = "an" if metric.title[0] in "AR" else "a"
    sentence = f"{mine['title']} has {article} {metric.title} of "
    sentence += f"{_interval(mine, name)} on the test rows"
    if others.empty:
        return [f"{sentence}."]
    others = others.sort_values(name, ascending=not metric.larger_is_better)
    best, worst = others.iloc[0], others.iloc[-1]
    found = [
        f"{sentence}: {_gap(mine[name] - best[name])} {best['title']}, the best "
        f"other model, with {_interval(best, name)}; the intervals "
        f"{_overlap(mine, best, name)}."
    ]
    if len(others) > 1:
        found.append(
            f"It is {_gap(mine[name] - worst[name])} {worst['title']}, the weakest "
            f"other model, with {_interval(worst, name)}; the intervals "
            f"{_overlap(mine, worst, name)}."
        )
    return found


def _most_important(shares: Mapping[str, float], labels: Labels) -> str:
    (first, most), *rest = shares.items()
    sentence = f"{label_of(first, labels).title} matters most: {percent(most)} of the"
    sentence += " importance (each component's ratio, shared by squared weights)"
    second = [item for item in rest[:2] if item[1] >= _NEGLIGIBLE]
    others = [f"{label_of(n, labels).title.lower()} ({percent(s)})" for n, s in second]
    return f"{sentence}, before {listed(others)}." if others else f"{sentence}."


def _ridge_sentence(component: RidgeComponent, axis: OwnAxis, words: _Words) -> str:
    labels = words.labels
    low, high = axis.core(_CORE)
    x, curve = axis.x, axis.curve
    if len(axis.levels):  # between them there is nothing
        x, curve = axis.levels, axis.level_curve
        low, high = (float(x[np.abs(x - end).argmin()]) for end in (low, high))
    inside = (x >= low) & (x <= high)
    x, curve = x[inside], curve[inside]
    name = f"{_sentence_title(component, axis, labels)} ({component.name}, IR "
    name += f"{percent(component.importance)})"
    if len(x) < 2:  # noqa: PLR2004
        return f"{name}: nearly all {words.rows} have one value."
    unit = label_of(axis.feature, labels).unit if axis.dominated else ""
    shape = curve_shape_text(x, curve, unit)
    between = f", {_about(low, unit)} to {_about(high, unit)},"
    return (
        f"{name}: the curve {shape}; over the middle {100 * _CORE:.0f} % of the "
        f"{words.rows}{between if axis.dominated else ''} it moves "
        f"{_moved(float(np.ptp(curve)), words)}."
    )


def _monotone_sentences(explanation: Explanation, words: _Words) -> list[str]:
    """What is proved about monotone features."""
    clauses = []
    for direction, way in (("increasing", "fall"), ("decreasing", "rise")):
        names = [
            label_of(each.feature, words.labels).title.lower()
            for each in explanation.certificates
            if each.holds and each.direction == direction
        ]
        if names:
            verb = way if words.odds else f"{way}s"
            clauses.append(f"never {verb} with a higher {listed(names)}")
    if not clauses:
        return []
    return [
        f"Certified by bounds of the curves: the {words.outcome} "
        f"{' and '.join(clauses)}, whatever the other features are; missing and "
        "special values are exempt."
    ]


def _sentence_title(component: RidgeComponent, axis: OwnAxis, labels: Labels) -> str:
    title = component_title(component, labels)
    return title if axis.dominated else f"A mixture of {title[0].lower()}{title[1:]}"


def _pair_sentence(component: PairComponent, words: _Words) -> str:
    seen = component.effects[component.shares > 0]
    moved = _moved(float(np.ptp(seen)), words, "up to ")
    return (
        f"{component_title(component, words.labels)} ({component.name}, IR "
        f"{percent(component.importance)}): beyond what each of the two adds, the pair "
        f"moves {moved} between its places."
    )


def _special_sentence(component: CategoryComponent, words: _Words) -> str:
    """Which special values have better and worse odds than the others."""
    labels = words.labels
    texts = category_texts(component.categories, component.feature, labels)
    # The first are all other values, which the curve describes alone.
    gaps, shares = component.effects[1:] - component.effects[0], component.shares[1:]
    clauses = []
    for which, word in ((gaps < 0, "lower"), (gaps > 0, "higher")):
        places = np.flatnonzero(which)
        if not len(places):
            continue
        frequent = places[np.argsort(-shares[places], kind="stable")][:_NAMED]
        named = listed(texts[1 + place] for place in np.sort(frequent))
        such = "such as " if len(frequent) < len(places) else ""
        count = "one value" if len(places) == 1 else f"{len(places)} values"
        sizes = np.abs(gaps[places])
        factor, most = (_size(float(end), words) for end in (sizes.min(), sizes.max()))
        factor += f" to {most}" if most != factor else ""
        clauses.append(
            f"{factor} {'times ' * words.odds}{word} at {count} ({such}{named}; "
            f"{percent(float(shares[places].sum()))} of the {words.rows})"
        )
    name = f"{component_title(component, labels)} (IR {percent(component.importance)})"
    if not clauses:
        return f"{name}: they differ from all other values by nothing."
    what, of = ("odds are", "those") if words.odds else ("prediction is", "that")
    return (
        f"{name}: beside the curve, the {what} {' and '.join(clauses)} than {of} of "
        "all other values."
    )


def _category_sentence(component: CategoryComponent, words: _Words) -> str:
    order = np.argsort(-component.effects)
    texts = category_texts(component.categories, component.feature, words.labels)
    best, worst = texts[order[0]], texts[order[-1]]
    reach = _size(float(np.ptp(component.effects)), words)
    title = component_title(component, words.labels)
    compared = (
        f"the odds of the first are {reach} times those of the second"
        if words.odds
        else f"the prediction of the first is {reach} above that of the second"
    )
    return (
        f"{title} (IR {percent(component.importance)}): {best} has the highest "
        f"{words.outcome} and {worst} the lowest; {compared}, all else equal."
    )


def _turns(curve: Floats, least: float) -> list[int]:
    """Places where a curve turns by more than a least amount, from left to right."""
    turns: list[int] = []
    low = high = 0
    way = 0  # 1 while rising, -1 while falling, 0 before either is certain
    for place, value in enumerate(curve):
        if value > curve[high]:
            high = place
        if value < curve[low]:
            low = place
        if way >= 0 and value < curve[high] - least:
            turns += [high] if way else []
            way, low = -1, place
        elif way <= 0 and value > curve[low] + least:
            turns += [low] if way else []
            way, high = 1, place
    return turns


def _about(value: float, unit: str) -> str:
    """A place on an axis, no finer than a curve can be read."""
    return value_text(value if unit == "year" else float(f"{value:.3g}"), unit)


def _step(x: Floats, curve: Floats, unit: str) -> str:
    """Names the narrow range in which a monotone curve does most of its way."""
    width = max(1, round(_STEP_WIDTH * (len(curve) - 1)))
    moved = np.abs(curve[width:] - curve[:-width])
    start = int(moved.argmax())
    share = float(moved[start] / np.ptp(curve))
    if share < _STEP_RISE:
        return ""
    low, high = _about(float(x[start]), unit), _about(float(x[start + width]), unit)
    return f", {100 * share:.0f} % of it between {low} and {high}"


def _overlap(mine: "pd.Series[float]", other: "pd.Series[float]", name: str) -> str:
    low, high = f"{name}_low", f"{name}_high"
    apart = mine[low] > other[high] or mine[high] < other[low]
    return "do not overlap" if apart else "overlap"


def _gap(gap: float) -> str:
    return f"{figure_text(abs(gap))} {'above' if gap >= 0 else 'below'}"


def _interval(row: "pd.Series[float]", name: str) -> str:
    best, low, high = (
        figure_text(float(row[each])) for each in (name, f"{name}_low", f"{name}_high")
    )
    return f"{best} ({low} to {high})"


def _moved(reach: float, words: _Words, up_to: str = "") -> str:
    """By how much a part of a model moves what it predicts."""
    by = "by a factor of " if words.odds else "by "
    return f"the {words.outcome} {by}{up_to}{_size(reach, words)}"


def _size(gap: float, words: _Words) -> str:
    """A gap in what a model adds up: a factor of the odds, or a number."""
    if words.odds:
        return _factor(float(np.exp(gap)))
    return f"{gap:,.0f}" if gap >= _WHOLE else f"{gap:.3g}"


def _factor(ratio: float) -> str:
    if ratio > _HUGE:
        return f"more than {_HUGE:,}"
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"  # noqa: PLR2004
