"""Fixtures for the LendingClub tests."""

from collections.abc import Callable, Iterable

import ibis
import ibis.expr.types as ir
import pytest

from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.lendingclub.schema import COLUMNS

Rows = Iterable[dict[str, str]]


@pytest.fixture
def typed(write_published, duckdb) -> Callable[..., ir.Table]:
    """Type two published files made of the given rows."""

    def parse(accepted: Rows = ({},), rejected: Rows = ({},)) -> ir.Table:
        rows = {"accepted": accepted, "rejected": rejected}
        tables = [
            read_published(
                duckdb, find_files(str(write_published(kind, rows[kind])), kind), kind
            ).rows
            for kind in COLUMNS
        ]
        return parse_applications(*tables)

    return parse


def union_malformed(**tables: ir.Table) -> ir.Table:
    """Return malformed lines of both files with their class."""
    return ibis.union(
        *(
            table.mutate(**{"class": ibis.literal(name)})
            for name, table in tables.items()
        )
    )
