"""A table that is not as it must be stops the run and shows the rows."""

import ibis
import pytest

from ridgeline.errors import InputError
from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
from ridgeline.lendingclub.validation import validate_clean, validate_typed

RULES = CleaningRules()


@pytest.fixture
def clean(typed):
    """Return a valid clean table of two rows."""
    return clean_applications(typed(), RULES).cache()


def test_good_tables_pass(typed, clean):
    validate_typed(typed(rejected=[{}, {"risk_score": ""}, {"dti": "99999%"}]))
    validate_clean(clean, RULES)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"risk_score": "15000"}, "risk_score: in_range"),
        ({"amount": "-5"}, "amount: in_range"),
        ({"application_date": "1899-12-31"}, "application_date: in_range"),
        ({"dti": "99999999%"}, "dti: in_range"),
    ],
)
def test_signs_of_a_misread_file_stop_at_the_typed_table(typed, cells, said):
    with pytest.raises(InputError, match=said) as error:
        validate_typed(typed(rejected=[{}, cells | {"title": "the culprit"}]))
    assert "the culprit" in str(error.value)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("amount", 40_025.0, "amount: in_range"),
        ("dti", -1.0, "dti: in_range"),
        ("risk_score", 851.0, "risk_score: in_range"),
        ("employment_length", 12.0, "employment_length: isin"),
        ("purpose_others", 0.5, "purpose_others: isin"),
        ("dti", None, "dti: not_nullable"),
        ("approved", 2, "approved: isin"),
    ],
)
def test_violation_of_the_clean_table_shows_its_rows(clean, column, value, said):
    wrong = ibis.literal(value, type=clean[column].type())
    table = clean.mutate(
        **{column: ibis.ifelse(clean.amount == 15_000, wrong, clean[column])}
    )
    with pytest.raises(InputError, match=said) as error:
        validate_clean(table, RULES)
    key = clean.filter(clean.amount == 15_000).row_key.execute().item()
    assert key in str(error.value)
    other = clean.filter(clean.amount != 15_000).row_key.execute().item()
    assert other not in str(error.value)


def test_one_class_only(clean):
    with pytest.raises(InputError, match="approved: one class is missing"):
        validate_clean(clean.filter(clean.approved == 1), RULES)


def test_missing_column_is_named(clean):
    with pytest.raises(InputError, match="dti: column missing"):
        validate_clean(clean.drop("dti"), RULES)


def test_wrong_type_is_named(clean):
    with pytest.raises(InputError, match="dti: dtype"):
        validate_clean(clean.mutate(dti=clean.dti.cast("string")), RULES)


def test_limits_follow_the_rules(clean):
    with pytest.raises(InputError, match="amount: in_range"):
        validate_clean(clean, CleaningRules(max_amount=13_000))
