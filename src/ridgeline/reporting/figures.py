"""Figures of the models side by side: ROC curves, calibration, observed values."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgeline import drawing
from ridgeline.errors import InputError

__all__ = ["plot_calibration", "plot_observed", "plot_residuals", "plot_roc"]

_WIDTH: Final = 5.0  # inches, and height
_GOOD: Final = 0.9  # an AUC from which on curves crowd in a corner
_BAND: Final = 2  # standard errors


def plot_roc(
    curves: Mapping[str, pd.DataFrame],
    aucs: Mapping[str, float],
    titles: Mapping[str, str],
    *,
    highlight: str,
) -> Figure:
    """Draws all ROC curves, with the AUCs in the lower right corner.

    Args:
        curves: `false_positive_rate` and `true_positive_rate` by model.
        highlight: The model that is drawn thick.

    Raises:
        InputError: If there is no curve, or one without an AUC.
    """
    _check_models(curves, aucs)
    figure = drawing.new_figure(_WIDTH, _WIDTH)
    axes = figure.add_subplot(label="roc")
    axes.plot([0, 1], [0, 1], **drawing.RULE, linestyle=":")
    drawn = [axes]
    if max(aucs[name] for name in curves) > _GOOD:
        drawn.append(_corner(axes))
    for name in sorted(curves, key=lambda name: -aucs[name]):
        for each in drawn:
            each.plot(
                curves[name]["false_positive_rate"],
                curves[name]["true_positive_rate"],
                label=f"{aucs[name]:.4f}  {_title(name, titles)}",
                **_line(list(curves).index(name), name == highlight),
            )
    _finish(axes, "false positive rate", "true positive rate", "AUC on the test rows")
    return figure


def plot_calibration(
    curves: Mapping[str, pd.DataFrame],
    errors: Mapping[str, float],
    titles: Mapping[str, str],
    *,
    highlight: str,
    event: str,
    rate: str = "",
) -> Figure:
    """Draws observed rates against predicted probabilities.

    Args:
        curves: `predicted`, `observed` and `count` by model.
        highlight: The model that is drawn thick, and with two standard errors.
        event: What the probability is one of, such as "approval".
        rate: What its rate is called; without it, such as "approval rate".

    Raises:
        InputError: If there is no curve, or one without an error.
    """
    _check_models(curves, errors)
    figure = drawing.new_figure(_WIDTH, _WIDTH)
    axes = figure.add_subplot(label="calibration")
    axes.plot([0, 1], [0, 1], **drawing.RULE, linestyle=":")
    for name in sorted(curves, key=lambda name: errors[name]):
        label = f"{errors[name]:.4f}  {_title(name, titles)}"
        look = _line(list(curves).index(name), name == highlight)
        x, seen = curves[name]["predicted"], curves[name]["observed"]
        axes.plot(x, seen, marker="o", markersize=2.5, label=label, **look)
        if name == highlight:
            error = _BAND * np.sqrt(seen * (1 - seen) / curves[name]["count"])
            axes.fill_between(
                x, seen - error, seen + error, color=drawing.PALE, linewidth=0
            )
    across = f"predicted probability of {event}"
    up = f"observed {rate or f'{event} rate'}"
    _finish(axes, across, up, "calibration error")
    return figure


def plot_observed(
    curves: Mapping[str, pd.DataFrame],
    errors: Mapping[str, float],
    titles: Mapping[str, str],
    *,
    highlight: str,
    target: str,
) -> Figure:
    """Draws observed means against predictions, a point for each bin of test rows.

    Args:
        curves: `predicted`, `observed`, `low` and `high` by model.
        errors: RMSE by model.
        highlight: The model that is drawn thick, and with the range of what was
            observed for eight of ten rows.
        target: What is predicted.

    Raises:
        InputError: If there is no curve, or one without an error.
    """
    _check_models(curves, errors)
    figure = drawing.new_figure(_WIDTH, _WIDTH)
    axes = figure.add_subplot(label="observed")
    ends = [curves[name]["predicted"].agg(["min", "max"]) for name in curves]
    low, high = min(end["min"] for end in ends), max(end["max"] for end in ends)
    axes.plot([low, high], [low, high], **drawing.RULE, linestyle=":")
    for name in sorted(curves, key=lambda name: errors[name]):
        curve, look = curves[name], _line(list(curves).index(name), name == highlight)
        label = f"{errors[name]:,.4g}  {_title(name, titles)}"
        axes.plot(curve["predicted"], curve["observed"], label=label, **look)
        if name == highlight:
            band = curve["low"], curve["high"]
            axes.fill_between(
                curve["predicted"], *band, color=drawing.PALE, linewidth=0
            )
    what = drawing.short(target)
    _name(axes, f"predicted {what}", f"observed {what}", "RMSE on the test rows")
    return figure


def plot_residuals(
    curves: Mapping[str, pd.DataFrame],
    errors: Mapping[str, float],
    titles: Mapping[str, str],
    *,
    highlight: str,
    target: str,
) -> Figure:
    """Draws mean residuals against predictions: on the line, right on average.

    Args:
        curves: `predicted`, `residual` and `standard_error` by model.
        errors: Calibration error by model.
        highlight: The model that is drawn thick, and with two standard errors.
        target: What is predicted.

    Raises:
        InputError: If there is no curve, or one without an error.
    """
    _check_models(curves, errors)
    figure = drawing.new_figure(_WIDTH, _WIDTH)
    axes = figure.add_subplot(label="residuals")
    axes.axhline(0, **drawing.RULE, linestyle=":")
    for name in sorted(curves, key=lambda name: errors[name]):
        curve, look = curves[name], _line(list(curves).index(name), name == highlight)
        x, mean = curve["predicted"], curve["residual"]
        label = f"{errors[name]:,.4g}  {_title(name, titles)}"
        axes.plot(x, mean, marker="o", markersize=2.5, label=label, **look)
        if name == highlight:
            error = _BAND * curve["standard_error"]
            axes.fill_between(
                x, mean - error, mean + error, color=drawing.PALE, linewidth=0
            )
    what = drawing.short(target)
    _name(axes, f"predicted {what}", f"observed less predicted {what}", "mean gap")
    return figure


def _finish(axes: Axes, across: str, up: str, legend: str) -> None:
    """Makes a square of shares, with the models named in the lower right corner."""
    axes.set_aspect("equal")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    _name(axes, across, up, legend, "lower right")


def _name(axes: Axes, across: str, up: str, legend: str, place: Any = "best") -> None:
    """Names the axes and the models."""
    axes.set_xlabel(across, fontsize=drawing.TEXT)
    axes.set_ylabel(up, fontsize=drawing.TEXT)
    box = axes.legend(loc=place, fontsize=drawing.SMALL, title=legend)
    box.get_title().set_fontsize(drawing.SMALL)
    drawing.clean(axes)


def _corner(axes: Axes) -> Axes:
    """An enlarged view of the corner in which good models meet."""
    corner = axes.inset_axes((0.4, 0.5, 0.55, 0.42), label="roc: corner")
    corner.set(xlim=(0, 0.2), ylim=(0.8, 1.002))
    corner.tick_params(labelsize=drawing.SMALL - 1)
    corner.locator_params(nbins=4)
    axes.indicate_inset_zoom(corner, edgecolor="#555555", linewidth=0.6)
    return corner


def _check_models(curves: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
    missing = [name for name in curves if name not in numbers]
    if not curves or missing:
        what = (
            f"The model {missing[0]!r} has no number"
            if missing
            else "No model is given"
        )
        message = f"{what}; pass a curve and a number for each model."
        raise InputError(message)


def _line(place: int, thick: bool) -> dict[str, Any]:
    colour, dashes = drawing.LINES[place % len(drawing.LINES)]
    if thick:
        return {"color": drawing.UP, "linestyle": "-", "linewidth": 2.2, "zorder": 3}
    return {"color": colour, "linestyle": dashes, "linewidth": 1.1}


def _title(name: str, titles: Mapping[str, str]) -> str:
    return drawing.short(titles.get(name, name))
