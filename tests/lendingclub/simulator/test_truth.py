"""The true log-odds against labels that were drawn, counted independently."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ridgeline.errors import InputError
from ridgeline.lendingclub.schema import (
    EMPLOYMENT_LEVELS,
    PURPOSES,
    SOURCES,
    TITLE_PURPOSES,
    RawFile,
)
from ridgeline.lendingclub.simulator import simulate
from ridgeline.lendingclub.simulator.truth import (
    COMPONENTS,
    component_curve,
    log_odds_components,
)

ACCEPTED, REJECTED = 60_000, 600_000
ERRORS = 4.5  # standard errors that a count may be away from its expectation


def _clean(kind: RawFile, rows: int, seed: int) -> pd.DataFrame:
    """Reads and cleans a simulated file with plain pandas."""
    names = SOURCES[kind]
    raw = pd.concat(
        batch.select(list(names.values())).to_pandas()
        for batch in simulate(kind, rows, seed)
    ).set_axis(list(names), axis=1)
    days = pd.to_datetime(
        raw["application_date"], format="%b-%Y" if kind == "accepted" else "%Y-%m-%d"
    )
    score = pd.to_numeric(raw["score_low" if kind == "accepted" else "risk_score"])
    title = raw["title"].str.lower().str.replace("_", " ")
    frame = pd.DataFrame(
        {
            "application_date": days.dt.year + (days.dt.month - 1) / 12,
            "amount": pd.to_numeric(raw["amount"]),
            "risk_score": (score // 5 * 5).clip(upper=845),
            "dti": pd.to_numeric(raw["dti"].str.rstrip("%")),
            "employment_length": raw["employment_length"].map(EMPLOYMENT_LEVELS),
        }
    )
    for purpose in PURPOSES:
        column = f"purpose_{purpose.lower().replace(' ', '_')}"
        frame[column] = (title.map(TITLE_PURPOSES) == purpose).astype(int)
    kept = (
        raw[[name for name in raw if name != "score_high"]].notna().all(axis=1)
        & days.between("2015-01-01", "2018-06-30")
        & (score <= 850)
        & frame["dti"].between(0, 200)
        & (frame["amount"] <= 40_000)
    )
    return frame[kept].assign(approved=int(kind == "accepted"))


def true_log_odds(rows: pd.DataFrame, accepted: int, rejected: int) -> pd.Series:
    """Return the sum of the parts."""
    return log_odds_components(rows, accepted, rejected).sum(axis=1)


@pytest.fixture(scope="module")
def clean() -> pd.DataFrame:
    parts = [_clean("accepted", ACCEPTED, 11), _clean("rejected", REJECTED, 12)]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def components(clean: pd.DataFrame) -> pd.DataFrame:
    return log_odds_components(clean, ACCEPTED, REJECTED)


@pytest.fixture(scope="module")
def probability(components: pd.DataFrame) -> pd.Series:
    return 1 / (1 + np.exp(-components.sum(axis=1)))


def _surprise(clean: pd.DataFrame, probability: pd.Series, groups: pd.Series) -> float:
    """Largest distance of a group's approvals from their expectation, in errors."""
    table = pd.DataFrame(
        {
            "excess": clean["approved"] - probability,
            "variance": probability * (1 - probability),
        }
    )
    sums = table.groupby(groups, observed=True).sum()
    sums = sums[sums["variance"] > 5]
    assert len(sums) > 2
    return float((sums["excess"] / np.sqrt(sums["variance"])).abs().max())


def test_clean_shares_are_those_of_the_real_files(clean: pd.DataFrame) -> None:
    counts = clean["approved"].value_counts()
    for count, rows, real in ((counts[1], ACCEPTED, 3206), (counts[0], REJECTED, 1034)):
        share = real / 5000
        error = np.sqrt(share * (1 - share) * (1 / 5000 + 1 / rows))
        assert abs(count / rows - share) < 4 * error
    # The paper keeps this many of the full files' rows.
    assert counts[1] / ACCEPTED == pytest.approx(1_433_570 / 2_260_668, abs=0.01)
    assert counts[0] / REJECTED == pytest.approx(5_607_986 / 27_648_741, abs=0.005)


def test_every_clean_row_has_finite_parts(components: pd.DataFrame) -> None:
    assert tuple(components) == COMPONENTS
    assert np.isfinite(components.to_numpy()).all()


def test_approvals_are_as_frequent_as_the_truth_says(
    clean: pd.DataFrame, probability: pd.Series
) -> None:
    edges = [0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 0.99, 1]
    assert _surprise(clean, probability, pd.cut(probability, edges)) < ERRORS
    # Nothing is left to find along any feature either.
    for name, bins in {
        "application_date": 42,
        "amount": [0, 999, 1000, 4999, 5000, 9999, 10000, 14999, 15000, 24999, 40000],
        "risk_score": [0, 599, 659, 664, 669, 679, 689, 699, 719, 739, 779, 900],
        "dti": [-1, 0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 60, 99, 100, 200],
        "employment_length": 12,
    }.items():
        assert _surprise(clean, probability, pd.cut(clean[name], bins)) < ERRORS, name


def test_ranking_by_the_truth_is_as_good_as_it_expects_to_be(
    clean: pd.DataFrame, components: pd.DataFrame, probability: pd.Series
) -> None:
    measured = roc_auc_score(clean["approved"], probability)
    # Expected area: pairs weighted by the chance that they are one of each class.
    order = np.argsort(probability.to_numpy(), kind="stable")
    chance = probability.to_numpy()[order]
    below = np.cumsum(1 - chance) - (1 - chance) / 2
    expected = (chance * below).sum() / (chance.sum() * (1 - chance).sum())
    assert measured == pytest.approx(expected, abs=5e-4)
    assert measured == pytest.approx(0.994, abs=2e-3)
    # No feature can be left out: each adds to the ranking.
    for name in COMPONENTS:
        rest = components.drop(columns=name).sum(axis=1)
        assert roc_auc_score(clean["approved"], rest) < measured, name


@pytest.mark.parametrize("name", ["employment_length", "purpose", "application_date"])
def test_parts_are_log_ratios_of_counts(
    clean: pd.DataFrame, components: pd.DataFrame, name: str
) -> None:
    if name == "purpose":
        columns = [column for column in clean if column.startswith("purpose_")]
        levels = clean[columns].idxmax(axis=1)
    else:
        levels = clean[name].round(3)
    counts = pd.crosstab(levels, clean["approved"])
    part = components[name].groupby(levels).first()
    difference = np.log(counts[1] / counts[0]) - part
    weight = 1 / (1 / counts[1] + 1 / counts[0])
    # Features are independent, so the others change all levels' counts alike.
    offset = (difference * weight).sum() / weight.sum()
    assert ((difference - offset).abs() * np.sqrt(weight)).max() < ERRORS


def test_score_and_dti_parts_are_log_ratios_of_counts_in_narrow_bins(
    clean: pd.DataFrame, components: pd.DataFrame
) -> None:
    year = np.floor(clean["application_date"] + 1e-6)
    cases = {
        "risk_score": clean["risk_score"].where(
            (year == 2017) & (clean.risk_score > 0)
        ),
        "dti": clean["dti"].where(clean["dti"].between(0.01, 45)) // 1,
    }
    for name, levels in cases.items():
        counts = pd.crosstab(levels, clean["approved"])
        counts = counts[counts.min(axis=1) >= 20]
        # Within a bin the ratio of chances is the rejects' mean ratio.
        ratio = np.exp(components[name])[clean["approved"] == 0].groupby(levels).mean()
        difference = np.log(counts[1] / counts[0]) - np.log(ratio[counts.index])
        weight = 1 / (1 / counts[1] + 1 / counts[0])
        offset = (difference * weight).sum() / weight.sum()
        assert len(counts) > 15
        assert ((difference - offset).abs() * np.sqrt(weight)).max() < ERRORS, name


@pytest.mark.parametrize("name", sorted(set(COMPONENTS) - {"risk_score"}))
def test_curves_show_the_parts(
    clean: pd.DataFrame, components: pd.DataFrame, name: str
) -> None:
    curve = component_curve(name, ACCEPTED, REJECTED)
    assert list(curve) == ["value", "log_odds"]
    assert np.isfinite(curve["log_odds"]).all()
    assert curve["value"].is_unique
    sample = clean.iloc[::97]
    if name == "purpose":
        columns = [column for column in clean if column.startswith("purpose_")]
        values = sample[columns].set_axis(list(PURPOSES), axis=1).idxmax(axis=1)
    else:
        values = sample[name].round(6)
        curve["value"] = curve["value"].round(6)
    drawn = values.map(curve.set_index("value")["log_odds"])
    part = components[name].loc[sample.index]
    np.testing.assert_allclose(drawn, part, atol=1e-9)


def test_score_curve_is_the_average_over_the_months(clean: pd.DataFrame) -> None:
    curve = component_curve("risk_score", ACCEPTED, REJECTED)
    curve = curve.set_index("value")["log_odds"]
    for band in (500, 660, 700, 800):
        part = log_odds_components(
            clean.iloc[::50].assign(risk_score=band), ACCEPTED, REJECTED
        )
        assert part["risk_score"].mean() == pytest.approx(curve[band], abs=0.05)
        assert np.ptp(part["risk_score"]) > 0 or band < 660


def test_curves_cover_the_clean_values() -> None:
    def values(name: str) -> list[float]:
        return component_curve(name, 1, 12)["value"].tolist()

    assert values("amount") == list(range(1_000, 40_001, 25))
    assert values("risk_score") == list(range(300, 846, 5))
    assert values("dti") == pytest.approx(np.arange(20_001) / 100)
    assert values("employment_length") == [*range(10), 11]
    assert values("purpose") == list(PURPOSES)
    assert values("application_date") == pytest.approx(2015 + np.arange(42) / 12)


@given(accepted=st.integers(1, 10**7), rejected=st.integers(1, 10**8))
def test_file_sizes_only_shift_the_log_odds(accepted: int, rejected: int) -> None:
    row = _row()
    base = true_log_odds(row, 1, 1)
    moved = true_log_odds(row, accepted, rejected)
    np.testing.assert_allclose(moved - base, np.log(accepted / rejected), atol=1e-9)


@given(
    month=st.integers(0, 41),
    amount=st.integers(40, 1600),
    score=st.integers(300, 850),
    dti=st.integers(0, 20_000),
    employment=st.sampled_from([*range(10), 11]),
)
def test_log_odds_is_finite_on_the_whole_grid(
    month: int, amount: int, score: int, dti: int, employment: int
) -> None:
    row = _row(
        application_date=2015 + month / 12,
        amount=25 * amount,
        risk_score=score,
        dti=dti / 100,
        employment_length=employment,
    )
    assert np.isfinite(true_log_odds(row, 10, 100)).all()
    # Any score of a band has the band's log-odds, be it the floor or the midpoint.
    band = row.assign(risk_score=min(score // 5 * 5, 845))
    assert true_log_odds(band, 10, 100).equals(true_log_odds(row, 10, 100))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("amount", 1010),
        ("amount", 975),
        ("amount", 40_025),
        ("risk_score", 295),
        ("dti", 200.01),
        ("dti", -1),
        ("dti", np.nan),
        ("employment_length", 10),
        ("application_date", 2014 + 11 / 12),
        ("application_date", 2018.5),
        ("application_date", 2016.04),
        ("purpose_housing", 1),
    ],
)
def test_values_that_cleaning_would_not_leave_are_refused(
    column: str, value: float
) -> None:
    with pytest.raises(InputError, match="must"):
        true_log_odds(_row(**{column: value}), 10, 100)


def test_unknown_component_and_empty_class_are_refused() -> None:
    with pytest.raises(InputError, match="'zip'.*application_date"):
        component_curve("zip", 10, 100)
    with pytest.raises(InputError, match="0 accepted"):
        component_curve("application_date", 0, 100)


def test_input_is_left_alone() -> None:
    row = _row()
    before = row.copy()
    log_odds_components(row, 10, 100)
    pd.testing.assert_frame_equal(row, before)


def _row(**changes: float) -> pd.DataFrame:
    values = {
        "application_date": 2017.0,
        "amount": 10_000.0,
        "risk_score": 700.0,
        "dti": 18.5,
        "employment_length": 3.0,
        **{f"purpose_{p.lower().replace(' ', '_')}": 0.0 for p in PURPOSES},
        "purpose_others": 1.0,
    }
    return pd.DataFrame([{**values, **changes}])
