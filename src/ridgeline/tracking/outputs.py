"""A node's output as files to look at and numbers to compare."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import shutil
from collections.abc import Mapping
from math import isnan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ridgeline.errors import InputError
from ridgeline.hashing import hash_of_files, hash_of_frame
from ridgeline.private_names.kedro import local_file
from ridgeline.spreadsheet import spreadsheet_safe
from ridgeline.tracking.config import TrackingConfig

if TYPE_CHECKING:
    import pandas as pd

    from ridgeline.tracking.client import Number

__all__ = [
    "metrics_of",
    "parameter_texts",
    "valid_name",
    "without_parameters",
    "write_output",
]

_LARGEST_FILE = 50_000_000  # bytes
_LONGEST_TEXT = 1_000_000  # characters
_LARGEST_ARRAY = 10_000  # elements
_CHOSEN = "parameters"  # key of a mapping under which a child's chosen parameters are

logger = logging.getLogger(__name__)


def write_output(
    folder: Path,
    name: str,
    data: Any,
    dataset: Any,
    config: TrackingConfig,
    *,
    private: bool | list[str] = False,
) -> None:
    """Write what is worth keeping of one output, which its dataset has saved already.

    The data are never changed, and a lazy table with a saved file is never computed a
    second time. Of what is private nothing is written, of a private table its columns
    and its size; `private` may also name columns of a table that are left out.
    """
    import ibis.expr.types as ir
    import pandas as pd

    target = folder / re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII)
    file = local_file(dataset)
    if isinstance(data, pd.DataFrame):
        left_out = private if isinstance(private, list) else []
        shown = data.drop(columns=left_out, errors="ignore")
        _write_frame(target, shown, dataset, config, private is True)
    elif isinstance(data, ir.Table):
        _write_lazy(target, data, dataset, config, bool(private))
    elif private:
        logger.debug("Output '%s' shows rows, and is not logged", name)
    elif isinstance(data, Mapping | BaseModel) and _write_json(target, data):
        pass
    elif file is not None and file.stat().st_size <= _LARGEST_FILE:
        shutil.copyfile(file, _with(target, file.suffix))
    elif isinstance(data, str) and len(data) <= _LONGEST_TEXT:
        suffix = ".html" if data.lstrip().startswith("<") else ".txt"
        _with(target, suffix).write_text(data, encoding="utf-8")
    elif not _write_figures(target, data):
        logger.debug("Output '%s' (%s) is not logged", name, type(data).__name__)


def metrics_of(data: Any, prefix: str = "", steps: str | None = None) -> list[Number]:
    """Return name, value and step of each number of an output.

    Numbers are in a mapping, nested or not, or, with a column of `steps`, in a table
    with a row for each step.

    Raises:
        InputError: If a table is to have steps, and has no such column of integers.
    """
    if steps is not None:
        return _metrics_by_step(data, prefix, steps)
    if not isinstance(data, Mapping | BaseModel):
        return []
    return [
        (valid_name(key), float(value), 0)
        for key, value in _flatten(data, prefix).items()
        if isinstance(value, Real) and not isinstance(value, bool)
    ]


def without_parameters(data: Any) -> tuple[Any, Mapping[str, str]]:
    """Return a mapping without its entry for parameters, and that entry as texts."""
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    chosen = data.get(_CHOSEN) if isinstance(data, Mapping) else None
    if not isinstance(chosen, Mapping | BaseModel):
        return data, {}
    rest = {key: value for key, value in data.items() if key != _CHOSEN}
    return rest, parameter_texts(chosen)


def parameter_texts(value: Any, prefix: str = "") -> dict[str, str]:
    """Return a value, or nested values, as flat parameters for MLflow."""
    return {
        valid_name(name): json.dumps(leaf, default=str)
        if isinstance(leaf, list | dict)
        else str(leaf)
        for name, leaf in _flatten(value, prefix).items()
    }


def valid_name(name: str) -> str:
    """Return a name that MLflow accepts for a metric or a parameter."""
    return re.sub(r"[^\w\-./ ]", "_", name, flags=re.ASCII)


def _metrics_by_step(table: Any, prefix: str, column: str) -> list[Number]:
    """The numeric columns of a table as metrics by step."""
    import pandas as pd

    steps = table.get(column) if isinstance(table, pd.DataFrame) else None
    if steps is None or steps.dtype.kind not in "iu":
        message = (
            f"its metrics go by steps, but it has no column '{column}' of integers"
        )
        raise InputError(message)
    values = table.drop(columns=column).select_dtypes("number")
    start = f"{prefix}." if prefix else ""
    return [
        (valid_name(f"{start}{name}"), float(value), int(step))
        for name, series in values.items()
        for step, value in zip(steps, series, strict=True)
        if not isnan(value)
    ]


def _flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Turn nested mappings, Pydantic models and dataclasses into dotted names."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if not isinstance(value, Mapping) or (not value and prefix):
        return {prefix or "value": value}
    leaves: dict[str, Any] = {}
    for key, item in value.items():
        leaves |= _flatten(item, f"{prefix}.{key}" if prefix else str(key))
    return leaves


def _with(target: Path, suffix: str) -> Path:
    # Not Path.with_suffix: a namespaced name such as `xnn.metrics` has a dot.
    return target.parent / f"{target.name}{suffix}"


def _write_json(target: Path, data: Mapping[Any, Any] | BaseModel) -> bool:
    try:
        text = json.dumps(data, indent=2, default=_jsonable)
    except (TypeError, ValueError):
        return False  # a mapping of figures or tables, say
    _with(target, ".json").write_text(text + "\n", encoding="utf-8")
    return True


def _jsonable(value: Any) -> Any:
    import numpy as np

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    # An array unless it would be a file of megabytes.
    if isinstance(value, np.ndarray | np.generic) and value.size <= _LARGEST_ARRAY:
        return value.tolist()
    message = f"{type(value).__name__} is not a JSON value"
    raise TypeError(message)


def _write_figures(target: Path, data: Any) -> bool:
    """Draw a figure, or a mapping of figures, and tell whether it was one."""
    from matplotlib.figure import Figure  # half a second, and most figures have files

    if isinstance(data, Figure):
        data.savefig(_with(target, ".png"))
        return True
    if not isinstance(data, Mapping):
        return False
    if not all(isinstance(figure, Figure) for figure in data.values()):
        return False
    target.mkdir()
    for key, figure in data.items():
        figure.savefig(target / f"{valid_name(str(key))}.png")
    return True


def _write_frame(
    target: Path,
    data: pd.DataFrame,
    dataset: Any,
    config: TrackingConfig,
    private: bool,
) -> None:
    if len(data) <= config.full_table_rows and not private:
        _write_csv(_with(target, ".csv"), data)
        return
    schema = {str(column): str(kind) for column, kind in data.dtypes.items()}
    digest = _saved_hash(dataset) or _hash_in_memory(data)
    summary = {"schema": schema, "rows": len(data), **digest}
    _write_summary(target, summary, None if private else data.head(config.preview_rows))


def _write_lazy(
    target: Path, data: Any, dataset: Any, config: TrackingConfig, private: bool
) -> None:
    """Describe an Ibis table from the file it was saved to, where there is one."""
    import pandas as pd
    from kedro.io import MemoryDataset

    schema = {column: str(kind) for column, kind in data.schema().items()}
    summary: dict[str, Any] = {"schema": schema}
    file = local_file(dataset)
    enough = config.full_table_rows + 1
    if file is not None and file.suffix == ".parquet":
        summary["rows"], head = _parquet_head(file, enough)
    elif private:
        head = None
    elif file is not None and file.suffix == ".csv":
        # As text: a preview shows what is in the file, not what pandas makes of it.
        head = pd.read_csv(file, nrows=enough, dtype=str, keep_default_na=False)
    else:
        # No single file: a copy or a count could cost a second computation. What a
        # database or a folder holds is ready to be read; in memory is only the recipe.
        kept = data if isinstance(dataset, MemoryDataset) else dataset.load()
        preview = kept.head(config.preview_rows).to_pandas()
        _write_summary(target, summary, preview)
        return
    if private or head is None:
        _write_summary(target, summary | _saved_hash(dataset), None)
    elif len(head) < enough:
        _write_csv(_with(target, ".csv"), head)
    else:
        preview = head.head(config.preview_rows)
        _write_summary(target, summary | _saved_hash(dataset), preview)


def _parquet_head(file: Path, rows: int) -> tuple[int, pd.DataFrame]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as parquet:
        first = next(parquet.iter_batches(batch_size=rows), None)
        if first is None:
            first = parquet.schema_arrow.empty_table()
        return parquet.metadata.num_rows, first.to_pandas()


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    import pandas as pd

    index = not isinstance(frame.index, pd.RangeIndex)
    spreadsheet_safe(frame).to_csv(path, index=index)


def _write_summary(
    target: Path, summary: dict[str, Any], preview: pd.DataFrame | None
) -> None:
    _write_json(target, summary)
    if preview is not None:
        _write_csv(_with(target, "_preview.csv"), preview)


def _saved_hash(dataset: Any) -> dict[str, str]:
    """Hash of what was saved; empty if it is not one local file."""
    if hasattr(dataset, "content_hash"):
        # Of the rows: engines with several threads do not repeat a file's bytes.
        return {"content_hash": dataset.content_hash()}
    file = local_file(dataset)
    return {} if file is None else {"sha256": hash_of_files([file])}


def _hash_in_memory(data: pd.DataFrame) -> dict[str, str]:
    try:
        return {"sha256": hash_of_frame(data)}
    except TypeError:
        return {}  # cells that cannot be hashed, such as lists
