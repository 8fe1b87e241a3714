"""`ridgeline describe`: what a model is, with NumPy alone."""

import argparse
import sys
from collections.abc import Iterator

from ridgeline.command.models import open_model
from ridgeline.decisions.policy import policy_template
from ridgeline.xnn.contribution_frames import feature_shares
from ridgeline.xnn.scorer import Scorer

__all__ = ["describe"]

_SHOWN = 8  # categories


def describe(arguments: argparse.Namespace) -> None:
    """Prints a description, or a policy to start from."""
    scorer = open_model(arguments.model)
    if arguments.policy_template:
        sys.stdout.write(policy_template(scorer))
        return
    for line in _lines(scorer):
        sys.stdout.write(f"{line}\n")


def _lines(scorer: Scorer) -> Iterator[str]:
    yield from _head(scorer)
    yield ""
    yield "columns, by importance:"
    shares = feature_shares(scorer)
    names = [*shares, *(n for n in scorer.features.names if n not in shares)]
    width = max(map(len, names))
    for name in names:
        yield f"  {name:<{width}}  {shares.get(name, 0):6.1%}  {_column(scorer, name)}"
    warnings = scorer.explain().warnings
    if warnings:
        yield ""
        yield "what may not be read from it:"
        for sentence in warnings:
            yield f"  {sentence}"


def _head(scorer: Scorer) -> Iterator[str]:
    if scorer.classes is None:
        yield "a regressor: decisions are in the unit of the response"
    else:
        first, second = scorer.classes
        yield f"a classifier: log-odds of {second!r} against {first!r}"
    used = int((scorer.all_scales > 0).sum())
    yield f"{used} of {len(scorer.component_names)} components in use"
    profile = scorer.profile
    if profile is None:
        yield "no memory of its training rows: it gives no reasons and no drift"
    else:
        yield f"trained on {profile.rows:,} rows, which it remembers in histograms"


def _column(scorer: Scorer, name: str) -> str:
    features = scorer.features
    number = features.numbers.get(name)
    if number is None:
        known = ["missing" if c is None else str(c) for c in features.categories[name]]
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        return f"{', '.join(known[:_SHOWN])}{more}"
    low, high = number.seen
    parts = [f"{low:g} to {high:g}"]
    parts += [f"special value {value:g}" for value in (*number.codes, *number.masses)]
    parts += ["missing"] if number.missing else []
    parts += [features.monotone[name]] if name in features.monotone else []
    return ", ".join(parts)
