"""Which penalties and starts a search by itself tries, and what each of them gives.

Candidates spread evenly over the ranges of the penalties at log-scale (a Sobol
sequence), each with a start of its own: training finds a local optimum, and another
start is as good a reason for a better model as another penalty. Half of them start from
random directions, half from single features, which on many tables is the shorter way.
The last third is drawn around the best of the others.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from ridgeline.xnn import fitting
from ridgeline.xnn.architecture import Init
from ridgeline.xnn.assembly import decisions
from ridgeline.xnn.one_standard_error import errors_of_differences, simplest
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.tables import Prepared, RowLosses

__all__ = ["Candidate", "Tried", "choose", "results_table", "try_candidates"]

Ranges = dict[str, tuple[float, float]]
_NEAR_SHARE: Final = 1 / 3  # of the candidates, drawn around the best
_NEAR: Final = 0.5  # decades about the best
_LARGEST: Final = np.iinfo(np.int32).max  # that a seed may be


class Candidate(NamedTuple):
    """Penalties and a start."""

    penalties: dict[str, float]
    init: Init
    seed: int

    def settings(self, others: Settings) -> Settings:
        """The settings of its fit."""
        return replace(others, init=self.init, **self.penalties)  # type: ignore[arg-type]


class Tried(NamedTuple):
    """A candidate, fitted."""

    candidate: Candidate
    fits: tuple[fitting.FitResult, ...]  # one for each split of the rows
    losses: RowLosses  # of the validation rows of all splits
    seconds: float

    @property
    def components(self) -> float:
        """Components in use, the mean over the splits."""
        counts = [np.count_nonzero(fit.scorer.all_scales) for fit in self.fits]
        return float(np.mean(counts))


def try_candidates(
    settings: Settings,
    splits: Sequence[Prepared],
    ranges: Ranges,
    inits: Sequence[Init],
    seed: int,
    *,
    count: int,
    seconds: float | None,
    n_jobs: int | None,
    done: Callable[[], None],
) -> list[Tried]:
    """Fits candidates on all cores, in the order in which they were drawn.

    Args:
        settings: What is not tried stays as it is here.
        splits: Training and validation rows, once or for each fold.
        ranges: Smallest and largest value of each penalty.
        inits: What projections may start from.
        seed: Draws the candidates.
        count: How many candidates there are.
        seconds: After which no further candidate is begun.
        n_jobs: Processes.
        done: Called after each candidate.
    """
    until = None if seconds is None else time.monotonic() + seconds
    rng = np.random.default_rng(seed)
    near = int(_NEAR_SHARE * count)
    spread = _spread_out(ranges, inits, count - near, rng, seed)
    # Workers are kept between the two calls, with the program that they compiled.
    with Parallel(n_jobs=1 if count == 1 else n_jobs, return_as="generator") as pool:

        def fitted(candidates: Sequence[Candidate]) -> list[Tried]:
            calls = (
                delayed(_fit)(settings, splits, candidate)
                for candidate in _in_time(candidates, until)
            )
            found = []
            for tried in pool(calls):
                found.append(tried)
                done()
            return found

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A worker stopped while some")
            found = fitted(spread)
            best = min(found, key=lambda tried: tried.losses.mean)
            around = _around(best.candidate, ranges, near, rng)
            if until is None or time.monotonic() < until:
                found += fitted(around)
    return found


def choose(found: Sequence[Tried], standard_errors: float) -> int:
    """The candidate with the fewest components within so many errors of the best."""
    return simplest(standard_errors, _losses_table(found))


def results_table(found: Sequence[Tried], chosen: int) -> pd.DataFrame:
    """A row for each candidate, the smallest validation loss first."""
    table = _losses_table(found)
    table["chosen"] = np.arange(len(found)) == chosen
    return table.sort_values("validation_loss", kind="stable", ignore_index=True)


def _losses_table(found: Sequence[Tried]) -> pd.DataFrame:
    table = pd.DataFrame(
        [
            tried.candidate.penalties
            | {
                "init": tried.candidate.init,
                "start": tried.candidate.seed,
                "validation_loss": tried.losses.mean,
                "components": tried.components,
                "epochs": sum(len(fit.history["epoch"]) for fit in tried.fits),
                "seconds": tried.seconds,
            }
            for tried in found
        ]
    )
    losses = np.stack([tried.losses.loss.astype(np.float32) for tried in found])
    best = int(table["validation_loss"].to_numpy().argmin())
    errors = errors_of_differences(losses, found[0].losses.weight, best)
    table.insert(len(found[0].candidate.penalties) + 3, "standard_error", errors)
    return table


def _in_time(
    candidates: Sequence[Candidate], until: float | None
) -> Iterator[Candidate]:
    """Candidates until the time is over, and at least one."""
    for place, candidate in enumerate(candidates):
        if place and until is not None and time.monotonic() > until:
            return
        yield candidate


def _spread_out(
    ranges: Ranges,
    inits: Sequence[Init],
    count: int,
    rng: np.random.Generator,
    seed: int,
) -> list[Candidate]:
    """Candidates that fill the ranges evenly; the first seed is the model's own."""
    from scipy.stats.qmc import Sobol

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of counts that are no power of two
        places = Sobol(len(ranges) + 1, rng=rng).random(count)
    low, high = np.log10(np.array(list(ranges.values()))).T
    values = 10 ** (low + places[:, :-1] * (high - low))
    # A dimension of its own: to take them in turn would tie them to the penalties.
    kinds = (places[:, -1] * len(inits)).astype(np.intp)
    seeds = [seed, *rng.integers(_LARGEST, size=count - 1).tolist()]
    return [
        Candidate(dict(zip(ranges, row, strict=True)), inits[kind], start)
        for row, kind, start in zip(values.tolist(), kinds.tolist(), seeds, strict=True)
    ]


def _around(
    best: Candidate, ranges: Ranges, count: int, rng: np.random.Generator
) -> list[Candidate]:
    """Candidates near the best, from its start and from new ones in turn."""
    found = []
    for place in range(count):
        moves = rng.uniform(-_NEAR, _NEAR, len(ranges))
        penalties = {
            name: float(np.clip(best.penalties[name] * 10**move, *ranges[name]))
            for name, move in zip(ranges, moves.tolist(), strict=True)
        }
        start = int(rng.integers(_LARGEST))
        seed = start if place % 2 else best.seed
        found.append(Candidate(penalties, best.init, seed))
    return found


def _fit(settings: Settings, splits: Sequence[Prepared], candidate: Candidate) -> Tried:
    """Fits one candidate, in a process of its own."""
    began = time.perf_counter()
    own = candidate.settings(settings)
    fits = tuple(fitting.fit(own, data, candidate.seed) for data in splits)
    seconds = time.perf_counter() - began
    losses = [_row_losses(fit, data) for fit, data in zip(fits, splits, strict=True)]
    joined = RowLosses(*map(np.concatenate, zip(*losses, strict=True)))
    return Tried(candidate, fits, joined, seconds)


def _row_losses(fit: fitting.FitResult, data: Prepared) -> RowLosses:
    """The loss of each validation row, in the unit of the response."""
    rows, response = data.validation, data.response
    decision = decisions(fit.scorer, rows)
    if response.classes is None:
        target = response.centre + response.half * rows.target.astype(np.float64)
        loss = (decision - target) ** 2
    else:
        loss = np.logaddexp(0, decision) - rows.target * decision
    return RowLosses(loss, rows.weight.astype(np.float64))
