"""What a fitted classifier says, in sentences that are computed from it."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
_NAMED: Final = 3  # special values of either kind
_CORE: Final = 0.98  # of the rows; beyond them a curve rests on a handful


def component_findings(
    scorer: Scorer, means: Mapping[str, float], labels: Labels, row: str
) -> list[str]:
    """What matters, how, and what does not.

    Args:
        row: What a row of the data is, in the singular, such as "application".
    """
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
            found.append(sentence(component, labels, row))
        elif isinstance(component, PairComponent):
            found.append(_pair_sentence(component, labels))
        else:
            axis = own_axis(component, scorer.features, means)
            found.append(_ridge_sentence(component, axis, labels, row))
    small = [
        f"{label_of(name, labels).title.lower()} ({percent(share)})"
        for name, share in shares.items()
        if share < _NEGLIGIBLE
    ]
    if small:
        found.append(f"Hardly used by the model: {listed(small)}.")
    return [*found, *_monotone_sentences(explanation, labels), *explanation.warnings]


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
    mine = own.iloc[0]
    sentence = f"{mine['title']} has an AUC of {_interval(mine)} on the test rows"
    if others.empty:
        return [f"{sentence}."]
    others = others.sort_values("auc", ascending=False)
    best, worst = others.iloc[0], others.iloc[-1]
    found = [
        f"{sentence}: {_gap(mine['auc'] - best['auc'])} {best['title']}, the best "
        f"other model, with {_interval(best)}; the intervals {_overlap(mine, best)}."
    ]
    if len(others) > 1:
        found.append(
            f"It is {_gap(mine['auc'] - worst['auc'])} {worst['title']}, the weakest "
            f"other model, with {_interval(worst)}; the intervals "
            f"{_overlap(mine, worst)}."
        )
    return found


def _most_important(shares: Mapping[str, float], labels: Labels) -> str:
    (first, most), *rest = shares.items()
    sentence = f"{label_of(first, labels).title} matters most: {percent(most)} of the"
    sentence += " importance (each component's ratio, shared by squared weights)"
    second = [item for item in rest[:2] if item[1] >= _NEGLIGIBLE]
    others = [f"{label_of(n, labels).title.lower()} ({percent(s)})" for n, s in second]
    return f"{sentence}, before {listed(others)}." if others else f"{sentence}."


def _ridge_sentence(
    component: RidgeComponent, axis: OwnAxis, labels: Labels, row: str
) -> str:
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
        return f"{name}: nearly all {row}s have one value."
    unit = label_of(axis.feature, labels).unit if axis.dominated else ""
    shape = curve_shape_text(x, curve, unit)
    between = f", {_about(low, unit)} to {_about(high, unit)},"
    return (
        f"{name}: the curve {shape}; over the middle {100 * _CORE:.0f} % of the {row}s"
        f"{between if axis.dominated else ''} it moves the odds by a factor of "
        f"{_factor(float(np.exp(np.ptp(curve))))}."
    )


def _monotone_sentences(explanation: Explanation, labels: Labels) -> list[str]:
    """What is proved about monotone features."""
    clauses = []
    for direction, way in (("increasing", "fall"), ("decreasing", "rise")):
        names = [
            label_of(each.feature, labels).title.lower()
            for each in explanation.certificates
            if each.holds and each.direction == direction
        ]
        if names:
            clauses.append(f"never {way} with a higher {listed(names)}")
    if not clauses:
        return []
    return [
        f"Certified by bounds of the curves: the odds {' and '.join(clauses)}, "
        "whatever the other features are; missing and special values are exempt."
    ]


def _sentence_title(component: RidgeComponent, axis: OwnAxis, labels: Labels) -> str:
    title = component_title(component, labels)
    return title if axis.dominated else f"A mixture of {title[0].lower()}{title[1:]}"


def _pair_sentence(component: PairComponent, labels: Labels) -> str:
    seen = component.effects[component.shares > 0]
    return (
        f"{component_title(component, labels)} ({component.name}, IR "
        f"{percent(component.importance)}): beyond what each of the two adds, the pair "
        "moves the odds by a factor of up to "
        f"{_factor(float(np.exp(np.ptp(seen))))} between its places."
    )


def _special_sentence(component: CategoryComponent, labels: Labels, row: str) -> str:
    """Which special values have better and worse odds than the others."""
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
        sizes = np.exp(np.abs(gaps[places]))
        factor = _factor(float(sizes.min()))
        if _factor(float(sizes.max())) != factor:
            factor += f" to {_factor(float(sizes.max()))}"
        clauses.append(
            f"{factor} times {word} at {count} ({such}{named}; "
            f"{percent(float(shares[places].sum()))} of the {row}s)"
        )
    name = f"{component_title(component, labels)} (IR {percent(component.importance)})"
    if not clauses:
        return f"{name}: their odds are those of all other values."
    return (
        f"{name}: beside the curve, the odds are {' and '.join(clauses)} than those of "
        "all other values."
    )


def _category_sentence(component: CategoryComponent, labels: Labels, _: str) -> str:
    order = np.argsort(-component.effects)
    best, worst = order[0], order[-1]
    ratio = float(np.exp(component.effects[best] - component.effects[worst]))
    return (
        f"{component_title(component, labels)} (IR {percent(component.importance)}): "
        f"{component.categories[best]} does best and {component.categories[worst]} "
        f"worst; the odds of the first are {_factor(ratio)} times those of the second, "
        "all else equal."
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


def _overlap(mine: "pd.Series[float]", other: "pd.Series[float]") -> str:
    apart = mine["auc_low"] > other["auc_high"] or mine["auc_high"] < other["auc_low"]
    return "do not overlap" if apart else "overlap"


def _gap(gap: float) -> str:
    return f"{abs(gap):.4f} {'above' if gap >= 0 else 'below'}"


def _interval(row: "pd.Series[float]") -> str:
    return f"{row['auc']:.4f} ({row['auc_low']:.4f} to {row['auc_high']:.4f})"


def _factor(ratio: float) -> str:
    if ratio > _HUGE:
        return f"more than {_HUGE:,}"
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"  # noqa: PLR2004
