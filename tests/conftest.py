"""Fixtures for all tests: small published files, an engine, the real samples."""

import csv
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import ibis
import pytest

from ridgeline.lendingclub.schema import COLUMNS, SOURCES, Kind

# One good application of each kind, as published.
GOOD: dict[Kind, dict[str, str]] = {
    "accepted": {
        "amount": "12000.0",
        "application_date": "Dec-2015",
        "title": "credit_card",
        "score_low": "690.0",
        "score_high": "694.0",
        "dti": "18.24",
        "employment_length": "10+ years",
    },
    "rejected": {
        "amount": "15000.0",
        "application_date": "2015-10-29",
        "title": "debt_consolidation",
        "risk_score": "633.0",
        "dti": "54.58%",
        "employment_length": "< 1 year",
    },
}

WritePublished = Callable[..., Path]


@pytest.fixture
def write_published(tmp_path: Path) -> WritePublished:
    """Write a published file from rows that say how they differ from a good one."""

    def write(
        kind: Kind, rows: Iterable[dict[str, str]] = ({},), name: str = ""
    ) -> Path:
        path = tmp_path / (name or f"{kind}.csv")
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS[kind], lineterminator="\n")
            writer.writeheader()
            for row in rows:
                cells = GOOD[kind] | row
                writer.writerow(
                    {SOURCES[kind][meaning]: text for meaning, text in cells.items()}
                )
        return path

    return write


@pytest.fixture
def duckdb() -> ibis.BaseBackend:
    """Return an engine of its own for each test."""
    return ibis.duckdb.connect(preserve_insertion_order=False)


@pytest.fixture
def real_samples() -> dict[Kind, Path]:
    """Return the two real samples, where they are at hand."""
    folder = os.environ.get("RIDGELINE_REAL_DATA")
    if not folder:
        pytest.skip("RIDGELINE_REAL_DATA does not name the folder with the samples")
    return {kind: Path(folder) / f"{kind}_sample.csv" for kind in COLUMNS}
