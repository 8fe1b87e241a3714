"""The paper's filters, each a named step, and the table that a model can read.

Section 4.3 of the paper: rows with missing values, scores above 850, debt-to-income
ratios outside 0-200 % and amounts above 40,000 go; the window is January 2015 to
June 2018; loan purposes are grouped in five and one-hot encoded.
"""

from datetime import date
from typing import NamedTuple, Self

import ibis
import ibis.expr.types as ir
from pydantic import model_validator

from ridgeline.lendingclub.schema import NUMERIC, PURPOSE_COLUMNS, TITLE_PURPOSES
from ridgeline.parameters import Parameters, Positive

__all__ = [
    "FEATURES",
    "SCORE_BAND",
    "TOP_BAND",
    "CleaningRules",
    "Step",
    "clean_applications",
    "cleaning_steps",
    "mark_removed",
]

FEATURES = (*NUMERIC, *PURPOSE_COLUMNS.values())
_CELLS = (*NUMERIC, "title")

SCORE_BAND = 5  # FICO bands as published: 660-664, 665-669, ...
TOP_BAND = 845  # the last band is 845-850


class CleaningRules(Parameters):
    """What a row must satisfy; the defaults are the paper's.

    Attributes:
        max_score: Highest risk score, in points; FICO ends at 850.
        min_dti: Lowest debt-to-income ratio, in percent.
        max_dti: Highest debt-to-income ratio, in percent.
        max_amount: Highest amount requested, in dollars.
        first_date: First application day.
        last_date: Last application day.
        one_grid: Put both classes on score bands and months. Declined applications
            carry exact scores and days and accepted loans do not, so without the
            common grid the format gives the decision away.
    """

    max_score: Positive = 850
    min_dti: float = 0
    max_dti: float = 200
    max_amount: Positive = 40_000
    first_date: date = date(2015, 1, 1)
    last_date: date = date(2018, 6, 30)
    one_grid: bool = True

    @model_validator(mode="after")
    def _ranges_are_not_empty(self) -> Self:
        for low, high in (("min_dti", "max_dti"), ("first_date", "last_date")):
            if getattr(self, low) > getattr(self, high):
                message = (
                    f"{low} is {getattr(self, low)} and {high} is "
                    f"{getattr(self, high)}: no row can pass; {low} must not be larger."
                )
                raise ValueError(message)
        return self


class Step(NamedTuple):
    """One filter: rows that do not pass are removed and counted under its name."""

    name: str  # the same whatever the limits, so that runs can be compared
    rule: str  # with the limits, for people
    passes: ir.BooleanValue


def cleaning_steps(applications: ir.Table, rules: CleaningRules) -> list[Step]:
    """Return the filters in the order in which they apply."""
    t = applications
    is_summary = ibis.and_(*(t[name].isnull() for name in [*_CELLS, "unparsed"]))
    return [
        Step("summary_line", "the line has a cell to read", ~is_summary),
        Step(
            "missing_value",
            "no cell is empty or unreadable",
            ibis.and_(*(t[name].notnull() for name in _CELLS)),
        ),
        Step(
            "score_too_high",
            f"risk score <= {rules.max_score:g}",
            t.risk_score <= rules.max_score,
        ),
        Step(
            "dti_out_of_range",
            f"{rules.min_dti:g} % <= DTI <= {rules.max_dti:g} %",
            t.dti.between(rules.min_dti, rules.max_dti),
        ),
        Step(
            "amount_too_high",
            f"amount <= {rules.max_amount:g}",
            t.amount <= rules.max_amount,
        ),
        Step(
            "outside_window",
            f"{rules.first_date} <= date <= {rules.last_date}",
            t.application_date.between(rules.first_date, rules.last_date),
        ),
    ]


def mark_removed(applications: ir.Table, rules: CleaningRules) -> ir.Table:
    """Add `removed_by`: the first step that a row fails, or null if it is kept."""
    # A comparison with null is neither true nor false, but rows with a null are
    # removed before anything is compared.
    failed = [(~step.passes, step.name) for step in cleaning_steps(applications, rules)]
    return applications.mutate(removed_by=ibis.cases(*failed))


def clean_applications(applications: ir.Table, rules: CleaningRules) -> ir.Table:
    """Return the rows that pass every filter, as numbers, with their `row_key`.

    `row_key` is a hash of the row's content as it was read. The rows come in no
    particular order.
    """
    kept = applications.filter(
        *(step.passes for step in cleaning_steps(applications, rules))
    )
    title = kept.title.lower().replace("_", " ")
    purpose = title.cases(*TITLE_PURPOSES.items(), else_="Others")
    return kept.select(
        row_key=_row_key(kept, title),
        application_date=_decimal_year(kept.application_date, rules.one_grid),
        amount=kept.amount,
        risk_score=_score_band(kept.risk_score) if rules.one_grid else kept.risk_score,
        dti=kept.dti,
        employment_length=kept.employment_length.cast("float64"),
        **{
            column: (purpose == name).cast("float64")
            for name, column in PURPOSE_COLUMNS.items()
        },
        approved=kept.approved,
    )


def _decimal_year(day: ir.DateValue, one_grid: bool) -> ir.FloatingValue:
    """Express a day as 2015.0, 2015.083, ...: a number whose axis can be read."""
    months = (day.month() - 1).cast("float64")
    if not one_grid:
        months = months + (day.day() - 1).cast("float64") / 31
    return day.year() + months / 12


def _score_band(score: ir.FloatingValue) -> ir.FloatingValue:
    """Return the lower end of the published band that holds a score."""
    band = (score / SCORE_BAND).floor().cast("float64") * SCORE_BAND
    return ibis.least(band, ibis.literal(TOP_BAND, type="float64"))


def _row_key(kept: ir.Table, title: ir.StringValue) -> ir.StringValue:
    """Hash a row's content as it was read, before any grid.

    Engines print floats differently and integers alike, so cells go in as integers,
    fine enough for the decimals that the files have.
    """
    day = kept.application_date
    date_and_class = (
        (day.year() * 100 + day.month()) * 100 + day.day()
    ) * 10 + kept.approved
    cells = [
        date_and_class,
        _scaled(kept.amount),
        _scaled(kept.risk_score),
        _scaled(kept.dti),
        kept.employment_length,
    ]
    text = [cell.cast("string") for cell in cells]
    return ibis.literal("|").join([*text, title]).hexdigest("md5").left(16)


def _scaled(number: ir.FloatingValue) -> ir.IntegerValue:
    return (number * 10_000).round().cast("int64")
