"""Blocks of neighbouring columns whose rows come from a short list of cells.

A simulated file has few distinct cells. A block holds them once, as cells and as the
text that a CSV line has in their place; a row is then a number for each block. The
same numbers give record batches and lines, and neither is built cell by cell.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["Block", "Drawn", "make_block", "running_block", "to_batch", "to_lines"]

Cell = str | None


@dataclass(frozen=True)
class Block:
    """Distinct rows of some neighbouring columns.

    Attributes:
        names: The columns.
        cells: For each column its cells by row, null where empty.
        text: For each row its part of a CSV line.
    """

    names: tuple[str, ...]
    cells: tuple[pa.Array, ...]
    text: pa.Array


# A block and, for each simulated row, the number of the block's row that it takes.
Drawn = tuple[Block, NDArray[np.int64]]


def make_block(names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Block:
    """Builds a block from its distinct rows.

    Returns:
        The block, with text quoted only where a reader needs it.
    """
    table = [tuple(row) for row in rows]
    columns = [pa.array(column, pa.string()) for column in zip(*table, strict=True)]
    text = pa.array(_lines(table), pa.string())
    return Block(tuple(names), tuple(columns), text)


def running_block(name: str, first: int, size: int) -> Block:
    """Builds a block of one column that counts up, every row distinct."""
    cells = pc.cast(pa.array(np.arange(first, first + size)), pa.string())
    return Block((name,), (cells,), cells)


def to_batch(drawn: Sequence[Drawn]) -> pa.RecordBatch:
    """Lays blocks side by side as a record batch of text columns."""
    names = [name for block, _ in drawn for name in block.names]
    columns = [
        column.take(pa.array(rows)) for block, rows in drawn for column in block.cells
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)


def to_lines(drawn: Sequence[Drawn]) -> memoryview:
    """Lays blocks side by side as the bytes of CSV lines."""
    texts = [block.text for block, _ in drawn]
    # The end of the line goes into the last block, where it costs next to nothing.
    texts[-1] = pc.binary_join_element_wise(texts[-1], "\n", "")
    parts = [
        text.take(pa.array(rows)) for text, (_, rows) in zip(texts, drawn, strict=True)
    ]
    lines = pc.binary_join_element_wise(*parts, ",")
    _, offsets, content = lines.buffers()
    if content is None:
        return memoryview(b"")
    ends = np.frombuffer(offsets, dtype=np.int32)
    return memoryview(content)[ends[0] : ends[len(lines)]]


def _lines(rows: Iterable[Sequence[Cell]]) -> list[str]:
    """CSV lines without their ends, quoted only where a reader needs it."""
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="")
    # A lone empty cell would be quoted, so one more is added and its comma cut off.
    writer.writerows([*row, None] for row in rows)
    return [line[:-1] for line in lines]
