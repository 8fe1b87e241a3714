"""What a lender decides and says: cut-off, reference, words, points.

Everything is plain data that a JSON file can hold; docs/how-to/score.md has one.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from string import Formatter
from typing import Any, Final, Literal, get_args

from ridgeline.errors import InputError
from ridgeline.xnn.columns import Unseen, quoted
from ridgeline.xnn.scorer import Scorer

__all__ = [
    "REFERENCES",
    "SENTENCES",
    "PointScale",
    "Policy",
    "Reference",
    "Side",
    "check_policy",
    "load_policy",
    "policy_template",
]

Side = Literal["below", "above"]
Reference = Literal["approved", "cutoff", "best"]
Stranger = Literal["refuse", "average"]
_MOST_REASONS: Final = 20
# One pair of braces, with a format of a number at most: nothing is looked up in it.
_FORMAT: Final = re.compile(r"[^{}]*\{(:[^{}]*)?\}[^{}]*")

SENTENCES: Final = {
    "above": "{label} of {value} is above what is typical of {reference}",
    "below": "{label} of {value} is below what is typical of {reference}",
    "same": "{label} of {value} counts for less than is typical of {reference}",
    "category": "{label} '{value}' counts for less than is typical of {reference}",
    "special": "{label} has the special value {value}",
    "missing": "{label} is missing",
}
REFERENCES: Final = {
    "approved": "approved applications",
    "cutoff": "applications at the cut-off",
    "best": "the best applications",
    "average": "all applications",
}
_DECISIONS: Final = {"approved": "approved", "declined": "declined"}
_PLACES: Final = {"label", "value", "reference"}


@dataclass(frozen=True)
class PointScale:
    """Log-odds as points, as scorecards have them.

    Parameters
    ----------
    base : float, default=600.0
        Points at these odds.
    odds : float, default=1.0
        Odds of approval, to one.
    double : float, default=20.0
        Points that double the odds.
    """

    base: float = 600.0
    odds: float = 1.0
    double: float = 20.0


@dataclass(frozen=True)
class Policy:
    """What is declined, what it is compared with, and in which words.

    Parameters
    ----------
    cutoff : float or None, default=None
        The probability of the second class at the line between the decisions; None is
        0.5. For a regressor a value of the response; None decides nothing.
    declined : {"below", "above"}, default="below"
        Which side of the cut-off is declined. A row at the cut-off is approved.
    reference : {"approved", "cutoff", "best"}, default="approved"
        What a declined row is compared with: the average training row of the class that
        is approved (of all rows for a regressor), the applicant at the cut-off, or the
        best contribution of each feature.
    most_reasons : int, default=4
        How many reasons a row has at most; 0 asks for none, which models without a
        memory of their training rows can give.
    labels : dict, default={}
        Words for columns; without them underscores become blanks.
    formats : dict, default={}
        How numbers of a column are written, such as "{:.0f} %" or "${:,.0f}".
    sentences : dict, default={}
        Sentences in place of those that `ridgeline describe MODEL --policy-template`
        shows, with {label}, {value} and {reference}.
    references : dict, default={}
        Words for what a row is compared with.
    decisions : dict, default={}
        Words for "approved" and "declined".
    not_adjustable : tuple of str, default=()
        Columns that nobody can change, such as an age.
    points : PointScale or None, default=None
        A scale of points beside the log-odds.
    unknown_category : {"refuse", "average"}, default="refuse"
        Whether a row with a category that training had not cannot be scored, or is
        scored as if the column said nothing.
    unknown_missing : {"refuse", "average"}, default="refuse"
        The same for a gap in a column that had none in training.

    Examples
    --------
    >>> from ridgeline import Policy
    >>> Policy(cutoff=0.3, labels={"dti": "debt-to-income ratio"}).label("dti")
    'debt-to-income ratio'
    """

    cutoff: float | None = None
    declined: Side = "below"
    reference: Reference = "approved"
    most_reasons: int = 4
    labels: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, str] = field(default_factory=dict)
    not_adjustable: tuple[str, ...] = ()
    points: PointScale | None = None
    unknown_category: Stranger = "refuse"
    unknown_missing: Stranger = "refuse"

    def __post_init__(self) -> None:
        _check_choices(self)
        _check_texts(self)
        _check_numbers(self)

    @property
    def better(self) -> float:
        """1 where a larger decision is better for the row, else -1."""
        return 1.0 if self.declined == "below" else -1.0

    @property
    def unseen(self) -> Unseen:
        """What to do with strange cells of the rows that are left to score."""
        return Unseen("average", "average", "edge")

    def label(self, column: str) -> str:
        """Words for a column."""
        return self.labels.get(column, column.replace("_", " ").strip() or column)

    def sentence(self, kind: str) -> str:
        """The sentence of a kind of reason."""
        return self.sentences.get(kind, SENTENCES[kind])

    def decision(self, kind: str) -> str:
        """The word for a decision."""
        return self.decisions.get(kind, _DECISIONS[kind])

    def written(self, column: str, value: float) -> str:
        """A number of a column as people read it."""
        return self.formats.get(column, "{:,.6g}").format(value)

    def line(self, scorer: Scorer) -> float | None:
        """The cut-off in the unit of the decision; None where nothing is decided."""
        if scorer.classes is None:
            return self.cutoff
        share = 0.5 if self.cutoff is None else self.cutoff
        return math.log(share) - math.log1p(-share)


def check_policy(policy: Policy, scorer: Scorer) -> None:
    """Compares a policy with the model it is used with.

    Raises:
        InputError: If it names columns that there are not, or has what the model's
            task does not know.
    """
    named = (*policy.labels, *policy.formats, *policy.not_adjustable)
    strange = [name for name in named if name not in scorer.features.names]
    if strange:
        message = (
            f"The policy names the column {strange[0]!r}, which the model has not; its "
            f"columns are {quoted(scorer.features.names)}."
        )
        raise InputError(message)
    if scorer.classes is None:
        if policy.points is not None:
            message = "The policy has points, which need odds; a regressor has none."
            raise InputError(message)
        return
    if policy.cutoff is not None and not 0 < policy.cutoff < 1:
        message = (
            f"The cut-off of the policy is {policy.cutoff:g}; for a classifier it must "
            "be a probability above 0 and below 1."
        )
        raise InputError(message)


def load_policy(path: str | Path) -> Policy:
    """Read a policy from a JSON file.

    Parameters
    ----------
    path : str or path
        The file; `ridgeline describe MODEL --policy-template` prints one.

    Returns
    -------
    Policy
        What is declined, and in which words.
    """
    name = f"The policy {str(path)!r}"
    try:
        content = json.loads(Path(path).read_bytes().decode())
    except FileNotFoundError:
        message = f"{name} does not exist; pass the path of a JSON file."
    except OSError as error:
        message = f"{name} cannot be read ({error.strerror}); pass a JSON file."
    except (ValueError, RecursionError) as error:
        message = f"{name} is not JSON ({error}); pass a JSON file."
    else:
        return _read(content, name)
    raise InputError(message)


def policy_template(scorer: Scorer) -> str:
    """A policy for a model with every key, to start from, as JSON."""
    plain = Policy()
    features = scorer.features
    whole = asdict(plain) | {
        "cutoff": None if scorer.classes is None else 0.5,
        "labels": {name: plain.label(name) for name in features.names},
        "formats": dict.fromkeys(features.numbers, "{:,.6g}"),
        "sentences": dict(SENTENCES),
        "references": dict(REFERENCES),
        "decisions": dict(_DECISIONS),
        "not_adjustable": [],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _read(content: Any, name: str) -> Policy:
    if not isinstance(content, dict):
        message = f"{name} is not a JSON object; start from --policy-template."
        raise InputError(message)
    known = [each.name for each in fields(Policy)]
    strange = [key for key in content if key not in known]
    if strange:
        message = f"{name} has the key {strange[0]!r}; its keys are {', '.join(known)}."
        raise InputError(message)
    values = dict(content)
    points = values.get("points")
    if isinstance(points, dict):
        scale = [each.name for each in fields(PointScale)]
        if set(points) - set(scale):
            message = f"'points' of {name[4:]} has other keys than {', '.join(scale)}."
            raise InputError(message)
        values["points"] = PointScale(**points)
    if isinstance(values.get("not_adjustable"), list):
        values["not_adjustable"] = tuple(values["not_adjustable"])
    try:
        return Policy(**values)
    except InputError as error:
        raise InputError(f"{name} cannot be used: {error}") from None  # noqa: EM102


def _check_choices(policy: Policy) -> None:
    choices = {
        "declined": get_args(Side),
        "reference": get_args(Reference),
        "unknown_category": get_args(Stranger),
        "unknown_missing": get_args(Stranger),
    }
    for key, allowed in choices.items():
        value = getattr(policy, key)
        if not isinstance(value, str) or value not in allowed:
            message = f"{key} is {value!r}; it must be one of {quoted(allowed)}."
            raise InputError(message)


def _check_texts(policy: Policy) -> None:
    kinds = {
        "labels": None,
        "formats": None,
        "sentences": SENTENCES,
        "references": REFERENCES,
        "decisions": _DECISIONS,
    }
    for key, known in kinds.items():
        value = getattr(policy, key)
        texts = isinstance(value, Mapping) and all(
            isinstance(text, str) for pair in value.items() for text in pair
        )
        if not texts:
            message = f"{key} is {value!r:.60}; it must be words by name."
            raise InputError(message)
        strange = [name for name in value if known is not None and name not in known]
        if strange:
            message = f"{key} has {strange[0]!r}; its names are {quoted(known or ())}."
            raise InputError(message)
    listed = policy.not_adjustable
    if not isinstance(listed, tuple) or not all(isinstance(n, str) for n in listed):
        message = f"not_adjustable is {listed!r:.60}; it must be names of columns."
        raise InputError(message)
    for column, text in policy.formats.items():
        _check_format(column, text)
    for kind, text in policy.sentences.items():
        _check_sentence(kind, text)
    if policy.decision("approved") == policy.decision("declined"):
        message = "The two decisions have the same word; give each its own."
        raise InputError(message)


def _check_format(column: str, text: str) -> None:
    try:
        good = bool(_FORMAT.fullmatch(text)) and bool(text.format(1.5))
    except ValueError:
        good = False
    if not good:
        message = (
            f"The format of {column!r} is {text!r}; it must hold one number, such as "
            "'{:.0f} %'."
        )
        raise InputError(message)


def _check_sentence(kind: str, text: str) -> None:
    try:
        parts = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError:
        parts = [("", "", "")]
    if any(name not in _PLACES or spec or turn for name, spec, turn in parts):
        message = (
            f"The sentence {kind!r} is {text!r:.80}; in braces it may have label, "
            "value and reference alone."
        )
        raise InputError(message)


def _check_numbers(policy: Policy) -> None:
    if policy.cutoff is not None and not _is_number(policy.cutoff):
        message = f"cutoff is {policy.cutoff!r}; it must be a finite number."
        raise InputError(message)
    most = policy.most_reasons
    if type(most) is not int or not 0 <= most <= _MOST_REASONS:
        message = f"most_reasons is {most!r}; it must be from 0 to {_MOST_REASONS}."
        raise InputError(message)
    scale = policy.points
    if scale is None:
        return
    whole = isinstance(scale, PointScale) and all(
        map(_is_number, asdict(scale).values())
    )
    if not whole or scale.odds <= 0 or scale.double <= 0:
        message = (
            f"points is {scale!r:.80}; it must have a base, and positive odds and "
            "points to double them."
        )
        raise InputError(message)


def _is_number(value: Any) -> bool:
    """Whether it is a finite number that is no boolean."""
    return type(value) in {int, float} and math.isfinite(value)
