"""Models side by side: a table of plain numbers, and its text for a terminal."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import pandas as pd

from ridgeline.errors import InputError

__all__ = [
    "COMPARISON_COLUMNS",
    "REGRESSION_COLUMNS",
    "Metric",
    "comparison_table",
    "comparison_text",
    "figure_text",
    "main_metric",
]

_OF_THE_FIT: Final = (
    "fits fit_seconds predict_seconds n_parameters n_components n_test"
).split()
COMPARISON_COLUMNS: Final = [
    *"model title auc auc_low auc_high ks log_loss brier calibration_error".split(),
    *("accuracy", "threshold"),
    *_OF_THE_FIT,
]
REGRESSION_COLUMNS: Final = [
    *"model title rmse rmse_low rmse_high mae mae_low mae_high".split(),
    *("r2", "r2_low", "r2_high", "calibration_error"),
    *_OF_THE_FIT,
]
_LONGEST: Final = 20  # characters of a title in the terminal
_SHORT: Final = 99.95  # seconds, above which they are shown as whole numbers
_LARGE: Final = 100.0  # from which on four decimals say nothing


class Metric(NamedTuple):
    """The metric by which models are ordered."""

    name: str
    title: str
    larger_is_better: bool


_METRICS: Final = (Metric("auc", "AUC", True), Metric("rmse", "RMSE", False))


def main_metric(comparison: pd.DataFrame) -> Metric:
    """The metric by which a comparison is ordered."""
    return next(metric for metric in _METRICS if metric.name in comparison)


def comparison_table(
    evaluations: Mapping[str, Mapping[str, float]], titles: Mapping[str, str]
) -> pd.DataFrame:
    """One row for each model, the largest AUC or the smallest RMSE first.

    Returns:
        Columns `COMPARISON_COLUMNS`, or `REGRESSION_COLUMNS`; NaN where a model has no
        such metric.

    Raises:
        InputError: If there is no model, or one has no AUC where others have it.
    """
    regression = bool(evaluations) and all("rmse" in m for m in evaluations.values())
    metric = _METRICS[regression]
    without = [name for name, own in evaluations.items() if metric.name not in own]
    if not evaluations or without:
        what = (
            f"The model {without[0]!r} has no {metric.name}"
            if without
            else "No model is given"
        )
        message = f"{what}; pass the metrics of evaluate for each model."
        raise InputError(message)
    rows = [
        {"model": name, "title": titles.get(name, name), **metrics}
        for name, metrics in evaluations.items()
    ]
    columns = REGRESSION_COLUMNS if regression else COMPARISON_COLUMNS
    table = pd.DataFrame(rows, columns=columns)
    numbers = columns[2:]
    table[numbers] = table[numbers].astype("float64")
    return table.sort_values(
        metric.name,
        ascending=not metric.larger_is_better,
        kind="stable",
        ignore_index=True,
    )


def comparison_text(table: pd.DataFrame, not_applicable: Mapping[str, str]) -> str:
    """The comparison for a terminal, 71 columns wide: a log has 9 before it.

    "loss" is the log-loss, "calib." the calibration error, "fits" how many fits a
    method got, also those that only chose its parameters, "sec" seconds of the last.

    Args:
        not_applicable: Models without a line of their own, with the reason.
    """
    regression = main_metric(table).name == "rmse"
    heading = (
        f"{'RMSE':>7} {'interval':<17} {'MAE':>7} {'R2':>6}"
        if regression
        else f"{'AUC':>6} {'interval':<13} {'KS':>5} {'loss':>6} {'calib.':>6}"
    )
    header = f"{'model':<{_LONGEST}} {heading} {'fits':>4} {'sec':>4}"
    line = _regression_line if regression else _line
    lines = [header, *(line(row) for row in table.to_dict("records"))]
    lines += [f"{_cut(name)}: {reason}" for name, reason in not_applicable.items()]
    return "\n".join(line.rstrip() for line in lines)


def figure_text(value: float, digits: int = 4) -> str:
    """A metric with four decimals; in a large unit it has fewer."""
    if abs(value) < _LARGE:
        return f"{value:,.{digits}f}"
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004


def _line(row: Mapping[object, object]) -> str:
    interval = f"{_text(row['auc_low'])}-{_text(row['auc_high'])}"
    return (
        f"{_cut(str(row['title'])):<{_LONGEST}} {_text(row['auc']):>6} {interval:<13} "
        f"{_text(row['ks'], 3):>5} {_text(row['log_loss']):>6} "
        f"{_text(row['calibration_error']):>6} {_of_the_fit(row)}"
    )


def _regression_line(row: Mapping[object, object]) -> str:
    rmse, low, high, mae = (
        figure_text(float(str(row[name])))
        for name in ("rmse", "rmse_low", "rmse_high", "mae")
    )
    return (
        f"{_cut(str(row['title'])):<{_LONGEST}} {rmse:>7} {f'{low}-{high}':<17} "
        f"{mae:>7} {_text(row['r2'], 3):>6} {_of_the_fit(row)}"
    )


def _of_the_fit(row: Mapping[object, object]) -> str:
    seconds = float(str(row["fit_seconds"]))
    digits = int(seconds < _SHORT)
    return f"{_text(row['fits'], 0):>4} {_text(seconds, digits).replace(',', ''):>4}"


def _text(number: object, digits: int = 4) -> str:
    value = float(str(number))
    return "-" if pd.isna(value) else f"{value:,.{digits}f}"


def _cut(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
