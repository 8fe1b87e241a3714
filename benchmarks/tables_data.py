"""The tables of `tables.py`: three published ones, and three of our own making.

The published files are read from a folder and prepared as Kruschel et al. (2024, arXiv
2409.14429) did. Our own have the troubles of real tables and a known truth:

- heaps: many rows at exactly 0 and at round sums, with effects of their own; whole
  numbers; the codes -7 and -8; gaps that mean something.
- tails: columns of a log-normal distribution with effects on the log scale, one cell of
  1e9, an index of two columns.
- categories: twelve categorical columns, one of 300 categories of which most are rare,
  and two flags that turn the curve of a number.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["PUBLISHED", "SIMULATED", "Table", "load_table"]

Floats = NDArray[np.float64]
Rng = np.random.Generator
SEEDS = {"heaps": 11, "tails": 12, "categories": 13}
CODES = [-7, -8]
# HELOC's columns of which more is safer, and those of which more is riskier.
SAFER = (
    "ExternalRiskEstimate MSinceOldestTradeOpen MSinceMostRecentTradeOpen "
    "AverageMInFile NumSatisfactoryTrades PercentTradesNeverDelq MSinceMostRecentDelq "
    "MSinceMostRecentInqexcl7days"
).split()
RISKIER = (
    "NumTrades60Ever2DerogPubRec NumTrades90Ever2DerogPubRec NumTradesOpeninLast12M "
    "NumInqLast6M NumInqLast6Mexcl7days NetFractionRevolvingBurden "
    "NetFractionInstallBurden NumBank2NatlTradesWHighUtilization"
).split()


class Table(NamedTuple):
    """Rows to learn from; categorical columns hold text."""

    X: pd.DataFrame
    y: NDArray[Any]  # 0 and 1, or a standardised number
    categorical: list[str]
    classify: bool
    # As the estimators of Ridgeline take it.
    special_values: Any = "auto"
    # Log-odds or mean without noise, where they are known.
    truth: Floats | None = None
    # Directions that whoever published the table asks for.
    monotone: dict[str, str] | None = None

    def take(self, rows: Any) -> "Table":
        """Some of the rows."""
        truth = None if self.truth is None else self.truth[rows]
        return self._replace(X=self.X.iloc[rows], y=self.y[rows], truth=truth)


def load_table(name: str, folder: Path | None, rows: int | None = None) -> Table:
    """Read or make a table; `rows` takes so many of it at random."""
    if name in PUBLISHED:
        if folder is None:
            message = f"{name} needs the folder with {name}.csv"
            raise ValueError(message)
        table = PUBLISHED[name](folder / f"{name}.csv")
    else:
        table = SIMULATED[name](np.random.default_rng(SEEDS[name]))
    if rows is not None and rows < len(table.y):
        chosen = np.random.default_rng(0).permutation(len(table.y))[:rows]
        table = table.take(np.sort(chosen))
    return table._replace(X=table.X.reset_index(drop=True))


# --- Published ---


def read_heloc(path: Path) -> Table:
    """FICO's home equity lines: good or bad, with the codes -7 and -8."""
    rows = pd.read_csv(path)
    good = rows.pop("RiskPerformance").eq("Good")
    kept = ~rows.eq(-9).all(axis=1)
    categorical = ["MaxDelq2PublicRecLast12M", "MaxDelqEver"]
    X = _as_text(rows[kept], categorical)
    # FICO's challenge states them for the probability of bad; here it is that of good.
    monotone = dict.fromkeys(SAFER, "increasing") | dict.fromkeys(RISKIER, "decreasing")
    y = good[kept].to_numpy(np.int64)
    return Table(X, y, categorical, True, CODES, monotone=monotone)


def read_adult(path: Path) -> Table:
    """The census: whether an income is above 50,000."""
    rows = pd.read_csv(path, skipinitialspace=True)
    rich = rows.pop("income").eq(">50K")
    categorical = (
        "workclass education marital.status occupation relationship race sex"
    ).split()
    X = _as_text(rows.drop(columns="native.country"), categorical)
    return Table(X, rich.to_numpy(np.int64), categorical, True)


def read_bike(path: Path) -> Table:
    """Hourly rentals of bicycles, standardised by all rows."""
    rows = pd.read_csv(path)
    count = rows.pop("cnt").to_numpy(np.float64)
    categorical = "season yr holiday workingday weathersit".split()
    left_out = ["instant", "dteday", "casual", "registered"]
    X = _as_text(rows.drop(columns=left_out), categorical)
    return Table(X, (count - count.mean()) / count.std(), categorical, False)


def _as_text(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return rows.assign(**{name: rows[name].astype(str) for name in columns})


# --- Of our own making ---


def make_heaps(rng: Rng, n: int = 8_000) -> Table:
    """Point masses, whole numbers, codes, and gaps that mean something."""
    # A third of the amounts are round; people who ask for round sums are others.
    amount = rng.lognormal(9.2, 0.6, n).round()
    round_sums = np.array([5_000, 10_000, 15_000, 20_000, 25_000])
    is_round = rng.uniform(size=n) < 0.35
    amount = np.where(is_round, rng.choice(round_sums, n), amount)
    of_round = dict(zip(round_sums.tolist(), [0.3, 1.0, 0.4, 0.9, 0.5], strict=True))
    effect = -0.8 * (np.log(amount) - 9.2)
    effect += np.select([amount == one for one in of_round], list(of_round.values()))

    gain = np.where(rng.uniform(size=n) < 0.85, 0, rng.lognormal(7, 1.2, n).round())
    effect += np.where(gain == 0, -0.3, np.tanh((np.log1p(gain) - 7) / 1.5))

    late = rng.poisson(0.7, n)
    inquiries = rng.negative_binomial(1.5, 0.4, n)
    effect -= 0.9 * np.sqrt(late) + 0.12 * np.minimum(inquiries, 6)

    # -7: never late; -8: nobody knows.
    months = rng.integers(0, 84, n)
    months = np.where(rng.uniform(size=n) < 0.4, -7, months)
    months = np.where(rng.uniform(size=n) < 0.1, -8, months)
    of_months = [months == -7, months == -8]
    effect += np.select(of_months, [0.9, -0.7], 0.6 * np.tanh((months - 30) / 15))
    burden = rng.beta(1.2, 2, n).round(2) * 120
    burden = np.where(rng.uniform(size=n) < 0.15, -8, burden.round())
    effect += np.where(burden == -8, 0.6, -((burden / 60) ** 2) / 2)

    score = rng.normal(690, 45, n).round()
    gap = rng.uniform(size=n) < 0.2
    effect += np.where(gap, -0.9, 1.1 * np.tanh((score - 690) / 40))
    age = rng.integers(18, 80, n)
    effect += 0.7 * np.cos((age - 50) / 12)

    regions = np.array(["north", "east", "south", "west", "abroad"])
    region = rng.choice(len(regions), n, p=[0.3, 0.3, 0.2, 0.17, 0.03])
    effect += np.array([0.2, 0.0, -0.2, 0.3, -1.0])[region]
    X = pd.DataFrame(
        {
            "amount": amount,
            "gain": gain,
            "late": late,
            "inquiries": inquiries,
            "months": months,
            "burden": burden,
            "score": np.where(gap, np.nan, score),
            "age": age,
            "region": regions[region],
            # Heaps that mean nothing.
            "fee": np.where(rng.uniform(size=n) < 0.6, 0, rng.gamma(2, 50, n).round()),
            "visits": rng.poisson(3, n),
        }
    )
    codes = {"months": CODES, "burden": [-8]}
    special = {name: codes.get(name, "auto") for name in X if name != "region"}
    return _drawn(X, effect, ["region"], rng)._replace(special_values=special)


def make_tails(rng: Rng, n: int = 8_000) -> Table:
    """Log-normal columns, effects on the log scale, and one cell of 1e9."""
    spreads = {"income": 0.7, "debt": 1.2, "wealth": 2.0, "sales": 1.5, "staff": 1.0}
    logs = {name: rng.normal(0, spread, n) for name, spread in spreads.items()}
    age = rng.uniform(20, 70, n)
    truth = (
        np.tanh(logs["wealth"])
        + 0.8 * np.sin(logs["sales"])
        # An index of two columns: the ratio of debt to income.
        + 1.5 / (1 + np.exp(-2.5 * (logs["debt"] - logs["income"])))
        + 0.5 * np.cos((age - 45) / 10)
    )
    y = truth + 0.4 * rng.standard_normal(n)
    X = pd.DataFrame({name: 1_000 * np.exp(log) for name, log in logs.items()})
    X["age"] = age
    X.loc[int(rng.integers(n)), "sales"] = 1e9  # a slip: the response knows better
    centre, spread = y.mean(), y.std()
    return Table(X, (y - centre) / spread, [], False, truth=(truth - centre) / spread)


def make_categories(rng: Rng, n: int = 10_000) -> Table:
    """Twelve categorical columns, and flags that turn the curve of a number."""
    # Most of the 300 branches have a handful of rows.
    shares = 1 / np.arange(1, 301) ** 1.2
    branch = rng.choice(300, n, p=shares / shares.sum())
    effect = rng.normal(0, 0.8, 300)[branch]
    X = pd.DataFrame({"branch": [f"b{code:03d}" for code in branch]})
    sizes = {"purpose": 12, "job": 10, "home": 4, "channel": 5, "product": 8}
    sizes |= {"colour": 6, "weekday": 7, "sector": 9, "letter": 20}
    for name, size in sizes.items():
        codes = rng.choice(size, n, p=rng.dirichlet(np.full(size, 2.0)))
        X[name] = [f"{name[0]}{code}" for code in codes]
        if name in {"purpose", "job", "home", "channel", "product"}:
            effect += rng.normal(0, 0.5, size)[codes]
    member, online = rng.uniform(size=(2, n)) < np.array([[0.4], [0.3]])
    use, tenure, size = rng.uniform(-1, 1, (3, n))
    effect += np.where(member, 1.6, -0.8) * use + 0.4 * member
    effect += np.where(online, np.sin(3 * tenure), 0.5 * tenure) + 0.8 * size**2
    X["member"] = np.where(member, "yes", "no")
    X["online"] = np.where(online, "yes", "no")
    categorical = list(X)
    X = X.assign(use=use, tenure=tenure, size=size)
    return _drawn(X, effect, categorical, rng)


def _drawn(X: pd.DataFrame, effect: Floats, categorical: list[str], rng: Rng) -> Table:
    """A table of two classes with these log-odds, up to their mean."""
    log_odds = effect - effect.mean()
    y = rng.uniform(size=len(X)) < 1 / (1 + np.exp(-log_odds))
    return Table(X, y.astype(np.int64), categorical, True, truth=log_odds)


PUBLISHED: dict[str, Callable[[Path], Table]] = {
    "heloc": read_heloc,
    "adult": read_adult,
    "bike": read_bike,
}
SIMULATED: dict[str, Callable[[Rng], Table]] = {
    "heaps": make_heaps,
    "tails": make_tails,
    "categories": make_categories,
}
