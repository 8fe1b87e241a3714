"""Which penalties and starts a search by itself tries, and what each of them gives.

Candidates spread evenly over the ranges of the penalties at log-scale (a Sobol
sequence), each with a start of its own: training finds a local optimum, and another
start is as good a reason for a better model as another penalty. Half of them start from
random directions, half from single features, which on many tables is the shorter way.

They come in three rounds. The first spreads out, with a quarter of the epochs: a noisy
table needs no more, and is fitted worse with all of them. The second takes the best of
these with all epochs, from the same starts. The third is drawn around the best so far.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from ridgeline.xnn import fitting
from ridgeline.xnn.architecture import Init
from ridgeline.xnn.assembly import decisions
from ridgeline.xnn.coherence import overlaps
from ridgeline.xnn.one_standard_error import errors_of_differences, simplest
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.tables import Prepared, RowLosses

__all__ = ["Candidate", "Tried", "choose", "results_table", "terms", "try_candidates"]

Ranges = dict[str, tuple[float, float]]
_FIRST_EPOCHS: Final = 1 / 4  # share of the epochs in the first round
_PATIENCE: Final = 1 / 4  # of the epochs, without a smaller validation loss
_LATER_SHARE: Final = 1 / 4  # of the candidates, in the second round and in the third
_NEAR: Final = 0.5  # decades about the best
_LARGEST: Final = np.iinfo(np.int32).max  # that a seed may be


class Candidate(NamedTuple):
    """Penalties, a start, and the epochs of its training."""

    penalties: dict[str, float]
    init: Init
    seed: int
    epochs: int

    def settings(self, others: Settings) -> Settings:
        """The settings of its fit."""
        # Where validation gains nothing for so long, annealing does not change that.
        patience = others.patience or math.ceil(_PATIENCE * self.epochs)
        own = replace(others, init=self.init, max_epochs=self.epochs, patience=patience)
        return replace(own, **self.penalties)  # type: ignore[arg-type]


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

    @property
    def terms(self) -> float:
        """Features to read in the components in use, the mean over the splits."""
        return float(np.mean([terms(fit.scorer) for fit in self.fits]))


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
    until = math.inf if seconds is None else time.monotonic() + seconds
    rng = np.random.default_rng(seed)
    epochs = fitting.training_epochs(settings, splits[0])
    later = int(_LATER_SHARE * count)
    # Too few for rounds: one, with all epochs.
    first_epochs = math.ceil(_FIRST_EPOCHS * epochs) if later else epochs
    spread = _spread_out(ranges, inits, first_epochs, count - 2 * later, rng)
    spread[0] = spread[0]._replace(seed=seed)  # the model's own
    # Workers are kept between the rounds, with the program that they compiled.
    with Parallel(n_jobs=1 if count == 1 else n_jobs, return_as="generator") as pool:

        def fitted(candidates: Iterable[Candidate]) -> list[Tried]:
            calls = (
                delayed(_fit)(settings, splits, candidate) for candidate in candidates
            )
            new = []
            for tried in pool(calls):
                new.append(tried)
                done()
            return new

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A worker stopped while some")
            # One there must be, however little time there is.
            found = fitted(chain(spread[:1], _in_time(spread[1:], until)))
            longer = [one._replace(epochs=epochs) for one in _best(found, later)]
            found += fitted(_in_time(longer, until))
            around = _around(_best(found, 1)[0], ranges, later, rng)
            found += fitted(_in_time(around, until))
    return found


def _best(found: Sequence[Tried], count: int) -> list[Candidate]:
    """The candidates with the smallest losses."""
    order = sorted(found, key=lambda tried: tried.losses.mean)
    return [tried.candidate for tried in order[:count]]


def choose(found: Sequence[Tried], standard_errors: float) -> int:
    """The candidate with the fewest terms within so many errors of the best."""
    return simplest(standard_errors, _losses_table(found), by="terms")


def terms(scorer: Scorer) -> float:
    """How many features one has to read, over all components in use.

    A projection counts as many features as it has weights of equal size, and in
    between as its inverse participation ratio says: 1 / sum of w^4 where w'w = 1. Ten
    curves of one feature each are simpler than seven that mix all of them.

    Two projections that overlap have to be read together as well: the features of both
    count once more, times the squared cosine. Of models with the same features, the one
    nearer to orthogonal projections has fewer terms.
    """
    used = scorer.projection[:, scorer.scales > 0]
    share = used**2 / np.sum(used**2, axis=0)
    features = 1 / np.sum(share**2, axis=0)
    # Each pair is there twice, with the features of the one and of the other.
    again = np.sum(overlaps(scorer) ** 2 @ features)
    groups = np.count_nonzero(scorer.category_scales)
    surfaces = 2 * np.count_nonzero(scorer.pair_scales)
    return float(features.sum() + again + groups + surfaces)


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
                "terms": tried.terms,
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


def _in_time(candidates: Sequence[Candidate], until: float) -> Iterator[Candidate]:
    """Candidates until the time is over."""
    for candidate in candidates:
        if time.monotonic() > until:
            return
        yield candidate


def _spread_out(
    ranges: Ranges,
    inits: Sequence[Init],
    epochs: int,
    count: int,
    rng: np.random.Generator,
) -> list[Candidate]:
    """Candidates that fill the ranges evenly."""
    from scipy.stats.qmc import Sobol

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of counts that are no power of two
        places = Sobol(len(ranges) + 1, rng=rng).random(count)
    low, high = np.log10(np.array(list(ranges.values()))).T
    values = 10 ** (low + places[:, :-1] * (high - low))
    # A dimension of its own: to take them in turn would tie them to the penalties.
    kinds = (places[:, -1] * len(inits)).astype(np.intp)
    seeds = rng.integers(_LARGEST, size=count)
    drawn = zip(values.tolist(), kinds.tolist(), seeds.tolist(), strict=True)
    return [
        Candidate(dict(zip(ranges, row, strict=True)), inits[kind], seed, epochs)
        for row, kind, seed in drawn
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
        found.append(best._replace(penalties=penalties, seed=seed))
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
