"""`ridgeline fit`: from a table to a model file and a report page."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgeline.command.reading import read_whole
from ridgeline.command.writing import check_output
from ridgeline.errors import InputError
from ridgeline.files import replace_file
from ridgeline.xnn.columns import quoted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["fit"]

_CLASSES = 2


def fit(arguments: argparse.Namespace) -> None:
    """Fits the estimator that chooses by itself, and writes model and report."""
    check_output(arguments.output, (".json",))
    report = arguments.report or str(Path(arguments.output).with_suffix(".html"))
    check_output(report, (".html", ".htm"))
    table = read_whole(arguments.file)
    X, y, weight = _parts(table, arguments)
    classify = _is_class(y)
    from ridgeline import XNNClassifierCV, XNNRegressorCV

    estimator = XNNClassifierCV if classify else XNNRegressorCV
    kind = "two classes" if classify else "a number"
    _note(f"{len(X):,} rows, {X.shape[1]} columns; {arguments.target!r} is {kind}")
    model = estimator(
        n_candidates=arguments.candidates,
        max_seconds=arguments.seconds,
        random_state=arguments.seed,
        verbose=int(sys.stderr.isatty()),
    ).fit(X, y, sample_weight=weight)
    model.save(arguments.output)
    from ridgeline.command.fit_page import fit_page

    page = fit_page(model, target=arguments.target, file=Path(arguments.file).name)
    replace_file(report, page.encode())
    _note(f"wrote {arguments.output} and {report}")


def _parts(table: "pd.DataFrame", arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Columns, target and weight; rows without a target are left out."""
    weight, target = arguments.weight, arguments.target
    asked = [
        target,
        *arguments.drop,
        *arguments.categorical,
        *([weight] * bool(weight)),
    ]
    strange = [name for name in asked if name not in table.columns]
    if strange:
        message = (
            f"The table {arguments.file!r} has no column {strange[0]!r}; its columns "
            f"are {quoted(table.columns)}."
        )
        raise InputError(message)
    known = table[target].notna()
    if not known.all():
        _note(f"{int((~known).sum()):,} rows without {target!r} are left out")
        table = table[known]
    out = {target, weight, *arguments.drop} - {None}
    X = table[[name for name in table.columns if name not in out]]
    if not X.shape[1] or not len(X):
        what = "columns" if len(X) else f"rows with {target!r}"
        message = f"The table {arguments.file!r} has no {what} to fit on."
        raise InputError(message)
    codes = [name for name in arguments.categorical if name in X.columns]
    X = X.astype(dict.fromkeys(codes, "category"))
    return X, table[target], table[weight] if weight else None


def _is_class(y: "pd.Series[Any]") -> bool:
    """Whether a target is two classes: text, booleans or two values."""
    distinct = y.nunique()
    if distinct == _CLASSES:
        return True
    if y.dtype.kind in "iuf":
        return False
    message = (
        f"The target {y.name!r} has {distinct} values that are no numbers; it must be "
        "a number, or two classes."
    )
    raise InputError(message)


def _note(message: str) -> None:
    sys.stderr.write(f"ridgeline: {message}\n")
