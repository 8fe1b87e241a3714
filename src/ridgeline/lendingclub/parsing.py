"""Turn the two published formats into one typed table; nothing is dropped yet.

A cell that is not empty and cannot be read becomes null, and its text is kept in the
column `unparsed`, so that it can be counted and shown.

Thirty million rows pass here, so an expression for each of them has to earn its place:
what only the clean rows need (the spelling of titles, the hash) waits for `cleaning`.
"""

import ibis
import ibis.expr.types as ir

from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, MONTH_NAMES, SOURCES

__all__ = ["parse_applications", "unparsed_text"]

_MONTHS = {name: f"{number:02d}" for number, name in enumerate(MONTH_NAMES, start=1)}
# Stands before each entry of `unparsed`, and is taken out of cells.
_MARK = "\N{SYMBOL FOR UNIT SEPARATOR}"
_LARGEST_NUMBER = 1e300

# What a cell says, and what it means.
_Parsed = tuple[ir.StringValue, ir.Value]


def parse_applications(accepted: ir.Table, rejected: ir.Table) -> ir.Table:
    """Return both files as one table: `approved`, the six features, `unparsed`."""
    return ibis.union(_parse_accepted(accepted), _parse_rejected(rejected))


def unparsed_text(applications: ir.Table, column: str) -> ir.StringValue:
    """Return the text of a column's unreadable cells; null where it was read."""
    pattern = f"{_MARK}{column}=([^{_MARK}]*)"
    text = applications.unparsed
    return ibis.ifelse(
        text.contains(f"{_MARK}{column}="), text.re_extract(pattern, 1), None
    )


def _parse_accepted(table: ir.Table) -> ir.Table:
    source = SOURCES["accepted"]
    month = table[source["application_date"]]
    low, high = table[source["score_low"]], table[source["score_high"]]
    # The band is one score to a reader: a half-empty band is as good as none.
    score = (low + "-" + high, (_number(low) + _number(high)) / 2)
    return _typed(table, source, 1, (month, _month(month)), score)


def _parse_rejected(table: ir.Table) -> ir.Table:
    source = SOURCES["rejected"]
    day, score = table[source["application_date"]], table[source["risk_score"]]
    return _typed(table, source, 0, (day, _day(day)), (score, _number(score)))


def _typed(
    table: ir.Table,
    source: dict[str, str],
    approved: int,
    application_date: _Parsed,
    risk_score: _Parsed,
) -> ir.Table:
    amount, dti = table[source["amount"]], table[source["dti"]]
    employment = table[source["employment_length"]]
    parsed: dict[str, _Parsed] = {
        "application_date": application_date,
        "amount": (amount, _number(amount)),
        "risk_score": risk_score,
        "dti": (dti, _number(dti.replace("%", ""))),
        "employment_length": (employment, _employment_length(employment)),
    }
    return table.select(
        approved=ibis.literal(approved, type="int32"),
        **{name: value for name, (_, value) in parsed.items()},
        title=table[source["title"]],
        unparsed=_unparsed(parsed),
    )


def _unparsed(parsed: dict[str, _Parsed]) -> ir.StringValue:
    """Return the unreadable cells of a row as text; null for almost all rows."""
    is_bad = {
        name: text.notnull() & value.isnull() for name, (text, value) in parsed.items()
    }
    entries = [
        ibis.ifelse(
            is_bad[name], ibis.literal(f"{_MARK}{name}=") + text.replace(_MARK, " "), ""
        )
        for name, (text, _) in parsed.items()
    ]
    return ibis.ifelse(ibis.or_(*is_bad.values()), ibis.literal("").join(entries), None)


def _number(text: ir.StringValue) -> ir.FloatingValue:
    number = text.try_cast("float64")
    # "nan" and "inf" are words to a person; to an engine they are numbers, and the
    # largest ones.
    return ibis.ifelse(number.abs() < _LARGEST_NUMBER, number, None)


def _day(text: ir.StringValue) -> ir.DateValue:
    """Read `2015-10-29`; to an engine `infinity` and the year 99999 are days, too."""
    return ibis.ifelse(text.like("____-__-__"), text, None).try_cast("date")


def _month(text: ir.StringValue) -> ir.DateValue:
    """Read `Dec-2015` as the first day of that month."""
    month = text.left(3).cases(*_MONTHS.items())
    return ibis.ifelse(
        text.like("___-____"), text.right(4) + "-" + month + "-01", None
    ).try_cast("date")


def _employment_length(text: ir.StringValue) -> ir.IntegerValue:
    return text.cases(*EMPLOYMENT_LEVELS.items()).cast("int32")
