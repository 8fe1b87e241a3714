"""The paper's filters, the grid, the purposes, and the key of a row."""

import datetime

import pytest
from pydantic import ValidationError

from ridgeline.lendingclub.cleaning import (
    FEATURES,
    CleaningRules,
    clean_applications,
    cleaning_steps,
    mark_removed,
)
from ridgeline.lendingclub.schema import PURPOSE_COLUMNS, TITLE_PURPOSES

RULES = CleaningRules()


def clean(table, rules=RULES):
    return clean_applications(table, rules).execute()


@pytest.mark.parametrize(
    ("cells", "step"),
    [
        ({}, None),
        ({"risk_score": ""}, "missing_value"),
        ({"title": ""}, "missing_value"),
        ({"dti": "unknown"}, "missing_value"),
        ({"risk_score": "850"}, None),
        ({"risk_score": "851"}, "score_too_high"),
        ({"dti": "0%"}, None),
        ({"dti": "-1%"}, "dti_out_of_range"),
        ({"dti": "200%"}, None),
        ({"dti": "200.01%"}, "dti_out_of_range"),
        ({"amount": "40000"}, None),
        ({"amount": "40025"}, "amount_too_high"),
        ({"application_date": "2014-12-31"}, "outside_window"),
        ({"application_date": "2015-01-01"}, None),
        ({"application_date": "2018-06-30"}, None),
        ({"application_date": "2018-07-01"}, "outside_window"),
        (dict.fromkeys(["amount", "application_date", "title", "risk_score", "dti",
                        "employment_length"], ""), "summary_line"),
        # The first step that fails is the one that counts.
        ({"risk_score": "900", "amount": "50000"}, "score_too_high"),
    ],
)  # fmt: skip
def test_each_filter_at_its_edges(typed, cells, step):
    marked = mark_removed(typed(rejected=[cells]), RULES)
    removed_by = marked.filter(marked.approved == 0).removed_by.fill_null("kept")
    assert removed_by.execute().item() == (step or "kept")


def test_limits_are_parameters(typed):
    rules = CleaningRules(max_amount=10_000, last_date="2015-10-29")
    table = typed(rejected=[{"amount": "10000"}, {"amount": "10025"}])
    assert clean(table, rules).amount.to_list() == [10_000]
    assert "amount <= 10000" in [step.rule for step in cleaning_steps(table, rules)]


def test_misspelt_rule_names_the_close_match():
    with pytest.raises(ValidationError, match="did you mean 'max_amount'"):
        CleaningRules(max_amont=1)


def test_empty_range_is_refused():
    with pytest.raises(ValidationError, match="no row can pass; min_dti must not"):
        CleaningRules(min_dti=50, max_dti=40)
    with pytest.raises(ValidationError, match="first_date must not be larger"):
        CleaningRules(first_date="2018-07-01")


def test_clean_table_is_numbers_without_gaps(typed):
    rows = clean(typed())
    assert list(rows.columns) == ["row_key", *FEATURES, "approved"]
    assert rows[list(FEATURES)].dtypes.eq("float64").all()
    assert not rows.isna().any().any()
    assert sorted(rows.approved) == [0, 1]


@pytest.mark.parametrize(
    ("score", "band"),
    [("660", 660), ("664.9", 660), ("665", 665), ("844", 840), ("850", 845)],
)
def test_scores_fall_into_the_published_bands(typed, score, band):
    rows = clean(typed(rejected=[{"risk_score": score}]))
    assert rows[rows.approved == 0].risk_score.item() == band


def test_top_fico_band_and_score_850_meet(typed):
    table = typed(
        accepted=[{"score_low": "845", "score_high": "850"}],
        rejected=[{"risk_score": "850"}],
    )
    assert set(clean(table).risk_score) == {845}


def test_both_classes_fall_on_months(typed):
    table = typed(
        accepted=[{"application_date": "Mar-2016"}],
        rejected=[{"application_date": "2016-03-31"}],
    )
    assert set(clean(table).application_date) == {2016 + 2 / 12}


def test_without_the_grid_scores_and_days_stay(typed):
    table = typed(
        rejected=[{"application_date": "2016-03-31", "risk_score": "663"}, {}]
    )
    rows = clean(table, CleaningRules(one_grid=False))
    rejected = rows[rows.approved == 0]
    assert set(rejected.risk_score) == {663, 633}
    day = rejected.set_index("risk_score").application_date[663]
    assert 2016 + 2 / 12 < day < 2016 + 3 / 12


def test_both_spellings_meet_in_one_purpose(typed):
    pairs = {
        ("credit_card", "Credit card refinancing"): "Credit Card",
        ("debt_consolidation", "Debt consolidation"): "Debt Consolidation",
        ("home_improvement", "Home improvement"): "Housing",
        ("house", "Home buying"): "Housing",
        ("car", "Car financing"): "Purchase",
        ("major_purchase", "Major purchase"): "Purchase",
        ("small_business", "Business"): "Others",
        ("moving", "Moving and relocation"): "Others",
        ("something else", "Dream wedding on the moon"): "Others",
    }
    for spellings, purpose in pairs.items():
        rows = clean(typed(rejected=[{"title": text} for text in spellings]))
        rejected = rows[rows.approved == 0]
        assert (rejected[PURPOSE_COLUMNS[purpose]] == 1).all(), spellings
        assert (rejected[list(PURPOSE_COLUMNS.values())].sum(axis=1) == 1).all()


def test_every_listed_title_has_a_known_purpose():
    assert set(TITLE_PURPOSES.values()) == set(PURPOSE_COLUMNS)
    assert all(title == title.lower().strip() for title in TITLE_PURPOSES)


def test_key_is_of_the_row_as_read(typed):
    same = [{}, {}, {"amount": "15000.00"}, {"dti": "54.580%"}]
    other = [
        {"risk_score": "634"},
        {"application_date": "2015-10-30"},
        {"dti": "54.59"},
    ]
    for rules in (RULES, CleaningRules(one_grid=False)):
        rows = clean(typed(rejected=[*same, *other]), rules)
        rejected = rows[rows.approved == 0]
        # Four rows with one content and one key; three others, though the grid makes
        # two of them look the same.
        assert rejected.row_key.value_counts().to_list() == [4, 1, 1, 1]


def test_nothing_outside_the_window_is_read_as_inside(typed):
    day = datetime.date(2018, 6, 30)
    rules = CleaningRules(first_date=day, last_date=day)
    rows = [{"application_date": f"2018-0{m}-{d}"} for m, d in [(6, 29), (6, 30)]]
    assert len(clean(typed(rejected=rows), rules)) == 1
