"""The simulated figures against the published ones, and against real samples.

Stated figures come from samples of the real files, so each comparison allows for the
sampling error of both sides: `ERRORS` standard errors of a share.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published_frames import parse_published
from scipy.stats import chi2, chi2_contingency, ks_2samp

from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, SOURCES, RawFile
from ridgeline.lendingclub.simulator import simulate, write_published

ERRORS = 4.0
ROWS: dict[RawFile, int] = {"accepted": 100_000, "rejected": 300_000}
KINDS: tuple[RawFile, ...] = ("accepted", "rejected")

QUANTILES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
# Rows of the stated sample, then its quantiles at QUANTILES.
STATED_QUANTILES = {
    ("accepted", "amount"): (
        *(4777, 1476, 3000, 4900, 8000, 12825, 20000, 29050, 35000, 40000),
    ),
    ("rejected", "amount"): (
        *(3461, 1000, 1000, 2000, 4000, 10000, 20000, 30000, 35000, 40000),
    ),
    ("scored", "amount"): (
        *(1081, 1000, 1000, 1800, 4000, 10000, 20000, 30000, 35000, 40000),
    ),
    ("accepted", "score"): (4777, 662, 662, 667, 677, 692, 717, 747, 767, 807),
    ("scored", "score"): (1081, 501, 522, 548, 592, 633, 671, 710, 738, 814.4),
    ("accepted", "dti"): (
        *(4773, 2.02, 5.15, 7.4, 12.05, 18.23, 25.19, 31.42, 34.47, 45.08),
    ),
    ("rejected", "dti"): (3461, -1, 0, 0.62, 7.96, 19.8, 36.41, 63.16, 100, 427.99),
    ("scored", "dti"): (1081, 0, 0.38, 2.47, 10.19, 21.41, 36.66, 57.76, 100, 354.42),
}
# Percent of the rows: accepted, rejected, rejected with a score.
STATED_EMPLOYMENT = {
    "< 1 year": (8.16, 81.59, 91.77),
    "1 year": (6.87, 0.58, 0.37),
    "2 years": (9.96, 0.38, 0.56),
    "3 years": (7.56, 0.29, 0.28),
    "4 years": (6.22, 0.35, 0.46),
    "5 years": (6.20, 11.44, 1.48),
    "6 years": (4.31, 0.14, 0.19),
    "7 years": (4.08, 0.09, 0.19),
    "8 years": (3.94, 0.17, 0.09),
    "9 years": (3.81, 0.09, 0.19),
    "10+ years": (32.03, 1.50, 2.59),
    None: (6.87, 3.38, 1.85),
}
STATED_TITLES = {
    "accepted": {"debt_consolidation": 56.79, "credit_card": 21.77, "other": 6.26},
    "rejected": {
        "debt_consolidation": 23.69,
        "Debt consolidation": 21.53,
        "Other": 8.67,
        "other": 8.29,
        "Credit card refinancing": 8.09,
        "credit_card": 5.26,
        "home_improvement": 2.60,
        "Car financing": 2.51,
        "Business Loan": 1.47,
    },
    "scored": {
        "Debt consolidation": 38.30,
        "Other": 14.43,
        "Credit card refinancing": 11.93,
        "debt_consolidation": 8.60,
        "credit_card": 2.04,
    },
}
STATED_HEAPS = {
    "accepted": {10000: 7.8, 15000: 5.8, 20000: 5.7, 12000: 5.3, 5000: 4.2, 35000: 3.6},
    "rejected": {10000: 14.9, 5000: 11.2, 20000: 7.3, 15000: 6.4, 1000: 6.3, 2000: 4.8},
}
# Percent at -1, at 0, at exactly 100, above 40, above 100, above 1000.
STATED_DTI = {
    "accepted": (0.00, 0.02, 0.00, 1.53, 0.13, 0.00),
    "rejected": (4.88, 3.76, 4.16, 21.50, 2.92, 0.52),
    "scored": (0.19, 3.98, 2.50, 20.81, 3.52, 0.37),
}
# Declined applications of the stated sample by quarter from 2015Q1, and with a score.
STATED_SCORED = (
    *((110, 73), (108, 8), (129, 5), (169, 14), (203, 33), (182, 15), (222, 22)),
    *((273, 103), (261, 106), (313, 119), (337, 158), (377, 323), (369, 84), (408, 18)),
)
STATED_ROWS = {"accepted": 4777, "rejected": 3461, "scored": 1081}
STATED_YEARS = {2015: 697.60, 2016: 696.71, 2017: 700.91, 2018: 711.52}


def _window(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["date"].between("2015-01-01", "2018-06-30")]


def _groups(frames: dict[RawFile, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Accepted, declined, and declined with a score, each within the window."""
    window = {kind: _window(frame) for kind, frame in frames.items()}
    declined = window["rejected"]
    return {
        "accepted": window["accepted"],
        "rejected": declined,
        "scored": declined[declined["score"].notna()],
    }


@pytest.fixture(scope="module")
def parsed() -> dict[RawFile, pd.DataFrame]:
    return {
        kind: parse_published(
            kind,
            pd.concat(
                batch.select(list(SOURCES[kind].values())).to_pandas()
                for batch in simulate(kind, rows, 5)
            ),
        )
        for kind, rows in ROWS.items()
    }


@pytest.fixture(scope="module")
def groups(parsed: dict[RawFile, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return _groups(parsed)


def _assert_share(drawn: float, rows: int, stated: float, stated_rows: int) -> None:
    """Two shares, each with its sampling error and a stated one rounded to 0.1 %."""
    share = (drawn * rows + stated * stated_rows) / (rows + stated_rows)
    error = np.sqrt(share * (1 - share) * (1 / rows + 1 / stated_rows))
    assert abs(drawn - stated) < ERRORS * error + 5e-4, (drawn, stated, error)


@pytest.mark.parametrize(("group", "feature"), STATED_QUANTILES)
def test_quantiles(groups: dict[str, pd.DataFrame], group: str, feature: str) -> None:
    values = groups[group][feature].dropna()
    stated_rows, *stated = STATED_QUANTILES[group, feature]
    for level, quantile in zip(QUANTILES, stated, strict=True):
        # With heaps a quantile stands for an interval of levels; the ends are moved
        # by the grid's step, because stated quantiles interpolate between values.
        step = {"amount": 25, "score": 2, "dti": 0.02}[feature]
        below = (values < quantile - step).mean()
        upto = (values <= quantile + step).mean()
        error = np.sqrt(level * (1 - level) * (1 / len(values) + 1 / stated_rows))
        assert below - ERRORS * error < level < upto + ERRORS * error, level


@pytest.mark.parametrize("group", STATED_ROWS)
def test_employment(groups: dict[str, pd.DataFrame], group: str) -> None:
    levels = groups[group]["employment"]
    column = list(STATED_ROWS).index(group)
    for level, stated in STATED_EMPLOYMENT.items():
        drawn = levels.isna().mean() if level is None else (levels == level).mean()
        _assert_share(drawn, len(levels), stated[column] / 100, STATED_ROWS[group])


@pytest.mark.parametrize("group", STATED_ROWS)
def test_titles(groups: dict[str, pd.DataFrame], group: str) -> None:
    shares = groups[group]["title"].value_counts(normalize=True)
    for title, stated in STATED_TITLES[group].items():
        _assert_share(
            shares[title], len(groups[group]), stated / 100, STATED_ROWS[group]
        )


@pytest.mark.parametrize("group", STATED_HEAPS)
def test_heaps(groups: dict[str, pd.DataFrame], group: str) -> None:
    amounts = groups[group]["amount"]
    for amount, stated in STATED_HEAPS[group].items():
        drawn = (amounts == amount).mean()
        _assert_share(drawn, len(amounts), stated / 100, STATED_ROWS[group])


@pytest.mark.parametrize("group", STATED_DTI)
def test_dti_codes_and_tails(groups: dict[str, pd.DataFrame], group: str) -> None:
    dti = groups[group]["dti"]
    drawn = [(dti == code).mean() for code in (-1, 0, 100)]
    drawn += [(dti > limit).mean() for limit in (40, 100, 1000)]
    for share, stated in zip(drawn, STATED_DTI[group], strict=True):
        _assert_share(share, len(dti), stated / 100, STATED_ROWS[group])


def test_scored_share_by_quarter(groups: dict[str, pd.DataFrame]) -> None:
    declined = groups["rejected"]
    shares = declined["score"].notna().groupby(declined["date"].dt.to_period("Q"))
    drawn = shares.agg(["mean", "size"])
    assert len(drawn) == len(STATED_SCORED)
    for row, (rows, scored) in zip(drawn.itertuples(), STATED_SCORED, strict=True):
        _assert_share(row.mean, row.size, scored / rows, rows)


def test_accepted_scores_by_year(groups: dict[str, pd.DataFrame]) -> None:
    loans = groups["accepted"]
    scores = loans["score"].groupby(loans["date"].dt.year).agg(["mean", "sem"])
    for year, stated in STATED_YEARS.items():
        # 744 loans with a standard deviation of 37 make up the smallest stated year.
        error = np.hypot(scores.loc[year, "sem"], 37 / np.sqrt(744))
        assert abs(scores.loc[year, "mean"] - stated) < ERRORS * error


def test_shares_of_the_window_and_of_the_whole_file(
    parsed: dict[RawFile, pd.DataFrame],
) -> None:
    files = {"accepted": (1_537_717, 2_260_668), "rejected": (19_018_941, 27_648_741)}
    for kind, frame in parsed.items():
        window, rows = files[kind]
        drawn = len(_window(frame)) / ROWS[kind]
        _assert_share(drawn, ROWS[kind], window / rows, rows)
    missing = parsed["rejected"]["score"].isna().mean()
    assert missing == pytest.approx(0.669, abs=0.01)


def test_monthly_volumes(groups: dict[str, pd.DataFrame]) -> None:
    # Full-file counts of some months: accepted, rejected.
    stated = pd.DataFrame(
        {
            "2015-01": (35107, 211743),
            "2015-10": (48631, 288981),
            "2016-03": (61992, 442426),
            "2016-05": (28403, 247300),
            "2017-02": (27763, 409786),
            "2017-11": (42343, 707586),
            "2018-06": (41533, 799414),
        },
        index=["accepted", "rejected"],
    )
    for kind, window in (("accepted", 1_537_717), ("rejected", 19_018_941)):
        months = groups[kind]["date"].dt.strftime("%Y-%m").value_counts()
        expected = stated.loc[kind] / window * len(groups[kind])
        statistic = ((months[expected.index] - expected) ** 2 / expected).sum()
        assert statistic < chi2.isf(1e-4, df=len(expected))
        assert len(months) == 42


def test_approval_rate_by_half_year(groups: dict[str, pd.DataFrame]) -> None:
    # Accepted among all applications of the full files, 2015H1 to 2018H1.
    stated = (0.1278, 0.1288, 0.0997, 0.0704, 0.0623, 0.0565, 0.0524)
    files = {"accepted": 2_260_668, "rejected": 27_648_741}
    counts = pd.DataFrame(
        {
            kind: groups[kind]["date"]
            .dt.year.mul(2)
            .add(groups[kind]["date"].dt.month > 6)
            .value_counts(sort=False)
            .sort_index()
            for kind in KINDS
        }
    )
    scaled = pd.DataFrame(
        {kind: counts[kind] * files[kind] / ROWS[kind] for kind in KINDS}
    )
    rate = scaled["accepted"] / scaled.sum(axis=1)
    # Counts vary independently; their relative errors add up in squares.
    error = rate * (1 - rate) * np.sqrt((1 / counts).sum(axis=1))
    assert ((rate - np.array(stated)).abs() < ERRORS * error).all()


# --- Real samples ------------------------------------------------------------------


def _real(kind: RawFile) -> Path:
    folder = os.environ.get("RIDGELINE_REAL_DATA")
    if not folder:
        pytest.skip("RIDGELINE_REAL_DATA does not point to the real samples")
    return Path(folder) / f"{kind}_sample.csv"


@pytest.mark.parametrize("kind", KINDS)
def test_header_is_the_published_one(tmp_path: Path, kind: RawFile) -> None:
    write_published(kind, tmp_path / "file.csv", 1, 1)
    with _real(kind).open("rb") as real, (tmp_path / "file.csv").open("rb") as ours:
        assert ours.readline() == real.readline()


def test_simulated_and_real_samples_are_alike(
    groups: dict[str, pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    real = _groups(
        {
            kind: parse_published(
                kind,
                pd.read_csv(
                    _real(kind), dtype=str, keep_default_na=False, na_values=[""]
                ),
            )
            for kind in KINDS
        }
    )
    lines, failures = [], []
    for group, frame in real.items():
        for feature in ("amount", "score", "dti"):
            ours, theirs = groups[group][feature].dropna(), frame[feature].dropna()
            distance = ks_2samp(ours, theirs, method="asymp").statistic
            bound = 1.95 * np.sqrt(1 / len(ours) + 1 / len(theirs))  # level 0.001
            medians = f"{ours.median():12.2f} {theirs.median():12.2f}"
            lines.append(
                f"{group:9}{feature:11} {medians} KS {distance:.3f} (< {bound:.3f})"
            )
            failures += [lines[-1]] if distance > bound else []
        for feature in ("employment", "title"):
            ours, theirs = groups[group][feature], frame[feature]
            top = theirs.value_counts().index[:8]
            table = pd.DataFrame(
                [x.where(x.isin(top), "rest").value_counts() for x in (ours, theirs)]
            ).fillna(0)
            shares = table.div(table.sum(axis=1), axis=0)
            distance = (shares.iloc[0] - shares.iloc[1]).abs().sum() / 2
            level = chi2_contingency(table).pvalue
            leading = shares[top[0]] * 100
            lines.append(
                f"{group:9}{feature:11} "
                f"{leading.iloc[0]:11.2f}% {leading.iloc[1]:11.2f}% "
                f"TV {distance:.3f} (chi-square level {level:.3f})"
            )
            failures += [lines[-1]] if level < 1e-3 else []
    with capsys.disabled():
        heading = (
            "group    feature        simulated         real  (median or first level)"
        )
        print("", heading, *lines, sep="\n")  # noqa: T201 - the table is the point
    assert not failures
    assert set(EMPLOYMENT_LEVELS) >= set(real["accepted"]["employment"].dropna())
