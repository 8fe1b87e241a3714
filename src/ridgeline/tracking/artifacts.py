"""A node's output as files to look at and numbers to compare."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import sys
from collections.abc import Mapping
from math import isnan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ridgeline.errors import InputError
from ridgeline.spreadsheet import spreadsheet_safe
from ridgeline.tracking.config import TrackingConfig
from ridgeline.tracking.tags import flatten, valid_name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_a", "local_file", "numbers", "step_values", "write_output"]

_LARGEST_FILE = 50_000_000  # bytes
_LONGEST_TEXT = 1_000_000  # characters
_LARGEST_ARRAY = 10_000  # elements

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
    """Write what is worth keeping of one output, which has been saved already.

    Args:
        folder: Where to write.
        name: The output's dataset name; the files are called after it.
        data: What the node returned. It is never changed, and a lazy table with a
            saved file is never computed a second time.
        dataset: The Kedro dataset that saved it.
        config: Limits for tables.
        private: Whether nothing of its content is written: of a table then its columns
            and its size; or the columns of a table that are left out.
    """
    target = folder / re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII)
    file = local_file(dataset)
    if is_a(data, "pandas", "DataFrame"):
        left_out = private if isinstance(private, list) else []
        shown = data.drop(columns=left_out, errors="ignore")
        _write_frame(target, shown, dataset, config, private is True)
    elif is_a(data, "ibis.expr.types", "Table"):
        _write_lazy(target, data, dataset, config, bool(private))
    elif private:
        logger.debug("Output '%s' shows rows, and is not logged", name)
    elif isinstance(data, Mapping | BaseModel) and _write_json(target, data):
        pass
    elif file is not None and file.stat().st_size <= _LARGEST_FILE:
        shutil.copyfile(file, _with(target, file.suffix))
    elif is_a(data, "matplotlib.figure", "Figure"):
        data.savefig(_with(target, ".png"))
    elif isinstance(data, Mapping) and all(
        is_a(figure, "matplotlib.figure", "Figure") for figure in data.values()
    ):
        target.mkdir()
        for key, figure in data.items():
            figure.savefig(target / f"{valid_name(str(key))}.png")
    elif isinstance(data, str) and len(data) <= _LONGEST_TEXT:
        suffix = ".html" if data.lstrip().startswith("<") else ".txt"
        _with(target, suffix).write_text(data, encoding="utf-8")
    else:
        logger.debug("Output '%s' (%s) is not logged", name, type(data).__name__)


def numbers(data: Any, prefix: str = "") -> dict[str, float]:
    """The numbers of a mapping as metrics `<prefix>.<key>`; of anything else, none."""
    if not isinstance(data, Mapping | BaseModel):
        return {}
    return {
        valid_name(key): float(value)
        for key, value in flatten(data, prefix).items()
        if isinstance(value, Real) and not isinstance(value, bool)
    }


def step_values(
    table: pd.DataFrame, column: str, prefix: str = ""
) -> list[tuple[str, float, int]]:
    """The numeric columns of a table as metrics by step.

    Args:
        table: A row for each step.
        column: The column of the steps.
        prefix: Before the columns' names, with a dot.

    Returns:
        Name, value and step of each number; where a value is missing, none.

    Raises:
        InputError: If the table has no such column of whole numbers.
    """
    steps = table.get(column) if is_a(table, "pandas", "DataFrame") else None
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


def local_file(dataset: Any) -> Path | None:
    """The single local file behind a dataset, if there is one."""
    dataset = getattr(dataset, "_dataset", dataset)  # kedro.io.CachedDataset
    path = getattr(dataset, "_filepath", None) or getattr(dataset, "filepath", None)
    remote = getattr(dataset, "_protocol", "file") != "file" or getattr(
        dataset, "_fs_prefix", ""
    )
    if path is None or remote:
        return None
    if getattr(dataset, "_version", None) is not None:
        path = dataset._get_load_path()
    local = Path(str(path))
    return local if local.is_file() else None


def is_a(data: Any, module: str, name: str) -> bool:
    """An isinstance check that imports nothing: no import, no such object."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(data, getattr(loaded, name))


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
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    # NumPy numbers and arrays, unless it would be a file of megabytes.
    if hasattr(value, "tolist") and value.size <= _LARGEST_ARRAY:
        return value.tolist()
    message = f"{type(value).__name__} is not a JSON value"
    raise TypeError(message)


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
    digest = _saved_hash(dataset) or _frame_hash(data)
    summary = {"schema": schema, "rows": len(data), **digest}
    _write_summary(target, summary, None if private else data.head(config.preview_rows))


def _write_lazy(
    target: Path, data: Any, dataset: Any, config: TrackingConfig, private: bool
) -> None:
    """Describe an Ibis table from the file it was saved to, where there is one."""
    schema = {column: str(kind) for column, kind in data.schema().items()}
    summary: dict[str, Any] = {"schema": schema}
    file = local_file(dataset)
    enough = config.full_table_rows + 1
    if private:
        if file is not None and file.suffix == ".parquet":
            summary["rows"], _ = _parquet_head(file, 1)
        _write_summary(target, summary | _saved_hash(dataset), None)
        return
    if file is not None and file.suffix == ".parquet":
        summary["rows"], head = _parquet_head(file, enough)
    elif file is not None and file.suffix == ".csv":
        head = _csv_head(file, enough)
    else:
        # No single file: a copy or a count could cost a second computation. What a
        # database or a folder holds is ready to be read; in memory is only the recipe.
        kept = data if is_a(dataset, "kedro.io", "MemoryDataset") else dataset.load()
        preview = kept.head(config.preview_rows).to_pandas()
        _write_summary(target, summary, preview)
        return
    if len(head) < enough:
        _write_csv(_with(target, ".csv"), head)
        return
    summary |= _saved_hash(dataset)
    _write_summary(target, summary, head.head(config.preview_rows))


def _parquet_head(file: Path, rows: int) -> tuple[int, pd.DataFrame]:
    import pyarrow.parquet as pq  # heavy, and a table needs it only

    with pq.ParquetFile(file) as parquet:
        first = next(parquet.iter_batches(batch_size=rows), None)
        if first is None:
            first = parquet.schema_arrow.empty_table()
        return parquet.metadata.num_rows, first.to_pandas()


def _csv_head(file: Path, rows: int) -> pd.DataFrame:
    import pandas as pd  # heavy, and a table needs it only

    # As text: a preview shows what is in the file, not what pandas makes of it.
    return pd.read_csv(file, nrows=rows, dtype=str, keep_default_na=False)


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    import pandas as pd  # heavy, and a table needs it only

    index = not isinstance(frame.index, pd.RangeIndex)
    spreadsheet_safe(frame).to_csv(path, index=index)


def _write_summary(
    target: Path, summary: dict[str, Any], preview: pd.DataFrame | None
) -> None:
    text = json.dumps(summary, indent=2)
    _with(target, ".json").write_text(text + "\n", encoding="utf-8")
    if preview is not None:
        _write_csv(_with(target, "_preview.csv"), preview)


def _saved_hash(dataset: Any) -> dict[str, str]:
    """Hash of what was saved; empty if it is not one local file."""
    if hasattr(dataset, "content_hash"):
        # Of the rows: engines with several threads do not repeat a file's bytes.
        return {"content_hash": dataset.content_hash()}
    file = local_file(dataset)
    if file is None:
        return {}
    with file.open("rb") as stream:
        return {"sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _frame_hash(data: pd.DataFrame) -> dict[str, str]:
    import pandas as pd  # heavy, and a table needs it only

    try:
        values = pd.util.hash_pandas_object(data)
    except TypeError:
        return {}  # cells that cannot be hashed, such as lists
    return {"sha256": hashlib.sha256(values.to_numpy().tobytes()).hexdigest()}
