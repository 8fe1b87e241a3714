"""Models side by side: a table of plain numbers, and its text for a terminal."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from ridgeline.errors import InputError

__all__ = ["COMPARISON_COLUMNS", "comparison_table", "comparison_text"]

COMPARISON_COLUMNS: Final = (
    "model title auc auc_low auc_high ks log_loss brier calibration_error accuracy "
    "threshold fits fit_seconds predict_seconds n_parameters n_components n_test"
).split()
_LONGEST: Final = 20  # characters of a title in the terminal
_SHORT: Final = 99.95  # seconds, above which they are shown as whole numbers


def comparison_table(
    evaluations: Mapping[str, Mapping[str, float]], titles: Mapping[str, str]
) -> pd.DataFrame:
    """One row for each model, the largest AUC first.

    Returns:
        Columns `COMPARISON_COLUMNS`, NaN where a model has no such metric.

    Raises:
        InputError: If there is no model, or one has no AUC.
    """
    without = [name for name, metrics in evaluations.items() if "auc" not in metrics]
    if not evaluations or without:
        what = (
            f"The model {without[0]!r} has no auc" if without else "No model is given"
        )
        message = f"{what}; pass the metrics of evaluate for each model."
        raise InputError(message)
    rows = [
        {"model": name, "title": titles.get(name, name), **metrics}
        for name, metrics in evaluations.items()
    ]
    table = pd.DataFrame(rows, columns=COMPARISON_COLUMNS)
    numbers = COMPARISON_COLUMNS[2:]
    table[numbers] = table[numbers].astype("float64")
    return table.sort_values("auc", ascending=False, kind="stable", ignore_index=True)


def comparison_text(table: pd.DataFrame, not_applicable: Mapping[str, str]) -> str:
    """The comparison for a terminal, 71 columns wide: a log has 9 before it.

    "loss" is the log-loss, "calib." the calibration error, "fits" how many fits a
    method got, also those that only chose its parameters, "sec" seconds of the last.

    Args:
        not_applicable: Models without a line of their own, with the reason.
    """
    header = (
        f"{'model':<{_LONGEST}} {'AUC':>6} {'interval':<13} {'KS':>5} "
        f"{'loss':>6} {'calib.':>6} {'fits':>4} {'sec':>4}"
    )
    lines = [header, *(_line(row) for row in table.to_dict("records"))]
    lines += [f"{_cut(name)}: {reason}" for name, reason in not_applicable.items()]
    return "\n".join(line.rstrip() for line in lines)


def _line(row: Mapping[object, object]) -> str:
    seconds = float(str(row["fit_seconds"]))
    interval = f"{_text(row['auc_low'])}-{_text(row['auc_high'])}"
    return (
        f"{_cut(str(row['title'])):<{_LONGEST}} {_text(row['auc']):>6} {interval:<13} "
        f"{_text(row['ks'], 3):>5} {_text(row['log_loss']):>6} "
        f"{_text(row['calibration_error']):>6} {_text(row['fits'], 0):>4} "
        f"{_text(seconds, int(seconds < _SHORT)).replace(',', ''):>4}"
    )


def _text(number: object, digits: int = 4) -> str:
    value = float(str(number))
    return "-" if pd.isna(value) else f"{value:,.{digits}f}"


def _cut(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
