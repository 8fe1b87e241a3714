"""Turn the two published formats into one typed table; nothing is dropped yet.

A cell that is not empty and cannot be read becomes null, and its text is kept in a
column beside it (`dti_unparsed`, ...), so that it can be counted and shown.
"""

import ibis
import ibis.expr.types as ir

from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, SOURCES, Kind

__all__ = ["PARSED_COLUMNS", "parse_applications"]

PARSED_COLUMNS = (
    "application_date",
    "amount",
    "risk_score",
    "dti",
    "employment_length",
)

_MONTHS = {
    name: f"{number:02d}"
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}


def parse_applications(accepted: ir.Table, rejected: ir.Table) -> ir.Table:
    """Return both files as one table: `approved`, the six features, the unparsed.

    Args:
        accepted: The accepted file, every cell text.
        rejected: The rejected file, every cell text.
    """
    return ibis.union(
        _parse_accepted(_cells(accepted, "accepted")),
        _parse_rejected(_cells(rejected, "rejected")),
    )


def _cells(table: ir.Table, kind: Kind) -> ir.Table:
    """Keep the cells that are needed, under their own names; empty is null."""
    # Cells are not trimmed: numbers and dates parse with blanks around them anyway,
    # and trimming every cell took longer than reading the file.
    return table.select(
        **{name: table[source].nullif("") for name, source in SOURCES[kind].items()}
    )


def _parse_accepted(cells: ir.Table) -> ir.Table:
    # The band is one score to a reader: a half-empty band is as good as none.
    band = cells.score_low + "-" + cells.score_high
    midpoint = (_number(cells.score_low) + _number(cells.score_high)) / 2
    return _typed(
        cells,
        approved=1,
        application_date=(cells.application_date, _month(cells.application_date)),
        risk_score=(band, midpoint),
    )


def _parse_rejected(cells: ir.Table) -> ir.Table:
    return _typed(
        cells,
        approved=0,
        application_date=(
            cells.application_date,
            cells.application_date.try_cast("date"),
        ),
        risk_score=(cells.risk_score, _number(cells.risk_score)),
    )


def _typed(
    cells: ir.Table, approved: int, **parsed: tuple[ir.StringValue, ir.Value]
) -> ir.Table:
    parsed |= {
        "amount": (cells.amount, _number(cells.amount)),
        "dti": (cells.dti, _number(cells.dti.replace("%", ""))),
        "employment_length": (
            cells.employment_length,
            _employment_length(cells.employment_length),
        ),
    }
    values = {name: parsed[name][1] for name in PARSED_COLUMNS}
    unparsed = {
        f"{name}_unparsed": ibis.ifelse(value.isnull(), text, None)
        for name, (text, value) in ((name, parsed[name]) for name in PARSED_COLUMNS)
    }
    return cells.select(
        approved=ibis.literal(approved, type="int32"),
        **values,
        title=cells.title.lower().replace("_", " "),
        **unparsed,
    )


def _number(text: ir.StringValue) -> ir.FloatingValue:
    number = text.try_cast("float64")
    # "nan" and "inf" are words to a person, and numbers to an engine.
    return ibis.ifelse(number.isnan() | number.isinf(), None, number)


def _month(text: ir.StringValue) -> ir.DateValue:
    """Read `Dec-2015` as the first day of that month."""
    month = text.lower().substr(0, 3).cases(*_MONTHS.items())
    return ibis.ifelse(
        text.length() == len("Dec-2015"),
        text.substr(4, 4) + "-" + month + "-01",
        None,
    ).try_cast("date")


def _employment_length(text: ir.StringValue) -> ir.IntegerValue:
    return text.lower().cases(*EMPLOYMENT_LEVELS.items()).cast("int32")
