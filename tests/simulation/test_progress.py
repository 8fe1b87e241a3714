"""What a study shows: tasks done, time left and the cell, on a terminal or in a log."""

import logging
import os
import pty
import re
import sys
from contextlib import suppress

import pytest

from ridgeline.simulation import progress
from ridgeline.simulation.progress import StudyProgress, _duration, cost
from ridgeline.simulation.settings import MODELS
from ridgeline.simulation.tasks import Task

LASSO, NETWORK = Task("S1", 10_000, 0, "lasso"), Task("S1", 10_000, 0, "xnn")
# The widest that the paper's study shows.
WIDE = Task("S6", 10_000, 9, "naive_xnn")


class Clock:
    """Seconds that pass when a test says so."""

    now = 1_000.0

    def monotonic(self) -> float:
        """Return the time, as `time.monotonic` does."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock that progress looks at."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Return what is logged from the level on that users see."""
    caplog.set_level(logging.INFO)
    return caplog


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (61, "1 min 01 s"),
        (3_599.7, "1 h 00 min"),
        (36_300, "10 h 05 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert _duration(seconds) == text


def test_cost_grows_with_the_rows() -> None:
    for model in MODELS:
        small, large, twice = (
            cost(Task("S1", n, 0, model)) for n in (50, 10_000, 20_000)
        )
        # At few rows no model is far more than what every task takes.
        assert small < 3 * cost(Task("S1", 50, 0, "lasso"))
        # Support vectors by the square of the rows.
        assert 1.3 * large < twice < (4 if model == "svm" else 2) * large


def test_time_left_is_judged_by_cost(clock: Clock) -> None:
    with StudyProgress([LASSO] * 3 + [NETWORK] * 2, shown=False) as shown:
        clock.now += 3
        for _ in range(3):
            shown.done(LASSO, {})
        # Three cheap tasks took 3 s; the two that are left cost far more than they.
        assert shown._left() == pytest.approx(3 * 2 * cost(NETWORK) / (3 * cost(LASSO)))
        clock.now += 100
        shown.done(NETWORK, {})
        done = 3 * cost(LASSO) + cost(NETWORK)
        assert shown._left() == pytest.approx(103 * cost(NETWORK) / done)
        shown.done(NETWORK, {})
        assert shown._left() == 0


def test_one_line_a_minute_and_one_at_the_end(
    clock: Clock, log: pytest.LogCaptureFixture
) -> None:
    with StudyProgress([LASSO] * 4, shown=True) as shown:
        clock.now += 59
        shown.done(LASSO, {"excess": 0.5})
        assert log.messages == []
        clock.now += 2
        shown.done(LASSO, {"excess": 0.25})
        assert log.messages == [
            "Study: 2/4 tasks, about 1 min 01 s left; "
            "last S1 n=10,000 no. 1 lasso: excess 0.2500"
        ]
        clock.now += 10
        shown.done(LASSO, {"excess": 0.25})
        shown.done(LASSO, {"not_applicable": "too many rows"})
    assert log.messages[1:] == [
        "Study: 4/4 tasks, about 0 s left; last S1 n=10,000 no. 1 lasso"
    ]


def test_nothing_is_shown_unless_asked(
    clock: Clock, log: pytest.LogCaptureFixture
) -> None:
    with StudyProgress([LASSO], shown=False) as shown:
        clock.now += 100
        shown.done(LASSO, {"excess": 0.5})
    assert log.messages == []


def test_the_bar_fits_a_terminal_of_80_columns(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        # As many tasks as the paper's study has.
        with StudyProgress([WIDE] * 1_680, shown=True) as shown:
            clock.now += 36_000 / 1_679
            shown.done(WIDE, {"excess": 0.0123})
    said = everything(ours)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said))
    expected = "1/1,680 10 h 00 min left S6 n=10,000 no. 10 naive_xnn"
    assert any(expected in line for line in lines), said
    assert max(len(line.rstrip()) for line in lines) < 80


def everything(terminal: int) -> str:
    """Return what was written to a terminal that is closed now."""
    said = b""
    with os.fdopen(terminal, "rb", buffering=0) as file, suppress(OSError):
        while part := file.read(4096):  # an error is how a terminal says the end
            said += part
    return said.decode()
