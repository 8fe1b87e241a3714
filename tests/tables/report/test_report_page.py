"""The report is one file that needs nothing else, and cannot be broken by a name."""

from dataclasses import replace

import pandas as pd
import pytest
from html_page import Page, check_alone, check_readable
from matplotlib.figure import Figure

from ridgeline.lendingclub.modelling import describe_applications
from ridgeline.reporting.comparison import comparison_table
from ridgeline.reporting.example import example_decision
from ridgeline.tables.report.findings import findings
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.page import render_report
from ridgeline.xnn.explanation import explain

TABLE = describe_applications()
HOSTILE = "<script>alert('x')</script>&\"$"


def figure():
    made = Figure(figsize=(1, 1))
    made.add_subplot().plot([0, 1])
    return made


@pytest.fixture
def content(known, rows, means, truth):
    audit = pd.DataFrame(
        [
            ["malformed", "line", "r", "rejected", 10, 2, 8, HOSTILE],
            ["filter", "missing_value", "no <cell>", "accepted", 100, 10, 90, ""],
            ["filter", "missing_value", "no <cell>", "rejected", 1000, 600, 400, ""],
        ],
        columns="section step rule class rows_in removed kept examples".split(),
    )
    metrics = {"auc": 0.91234, "auc_low": 0.9, "auc_high": 0.92, "ks": 0.5}
    models = {"xnn.refined": metrics, "rf": {**metrics, "auc": 0.8}}
    table = comparison_table(models, {})
    return {
        "title": "A report",
        "findings": findings(known, means, table, truth, TABLE),
        "table": TABLE,
        "audit": audit,
        "comparison": table,
        "figures": {"roc": figure(), "explanation": figure()},
        "explanation": explain(known),
        "limits": ["A limit."],
        "reproduce": {"command": "kedro run", "seed": "0"},
        "rows": {"test": 1234},
        "not_applicable": {"SVM": "too many rows"},
        "example": example_decision(known, rows.iloc[[0]], labels_of(TABLE)),
        "truth": truth,
    }


def test_report_needs_nothing_beside_itself(content):
    text = render_report(**content)
    check_alone(text)
    assert len(Page(text).all("img")) == 2


def test_report_can_be_read_by_all(content):
    check_readable(render_report(**content))


def test_report_tells_everything_it_is_given(content):
    words = " ".join(Page(render_report(**content)).words)
    for sentence in (*content["findings"], *content["limits"], "kedro run", "1,234"):
        assert sentence in words
    for number in ("0.9123", "0.9000 to 0.9200", "600", "too many rows"):
        assert number in words
    for reason in content["example"].reasons:
        assert reason.value in words
    assert "Against the known truth" in words
    overlap = content["explanation"].coherence
    for number in (overlap.largest_cosine, overlap.smallest_eigenvalue):
        assert f": {number:.3f}" in words


def test_what_is_not_there_is_left_out(content):
    nothing = {"example": None, "truth": None, "figures": {}, "not_applicable": {}}
    bare = content | nothing
    page = Page(render_report(**bare))
    words = " ".join(page.words)
    assert "One decision" not in words
    assert "Against the known truth" not in words
    assert not page.all("img")


def test_hostile_names_stay_text(content):
    explanation = content["explanation"]
    hostile_component = replace(explanation.components[0], name=HOSTILE)
    hostile = content | {
        "title": HOSTILE,
        "findings": [HOSTILE],
        "comparison": content["comparison"].assign(title=HOSTILE),
        "explanation": replace(explanation, components=(hostile_component,)),
        "not_applicable": {HOSTILE: HOSTILE},
        "reproduce": {HOSTILE: HOSTILE},
        "limits": [HOSTILE],
        "rows": {HOSTILE: 1},
    }
    text = render_report(**hostile)
    page = Page(text)
    assert "<script" not in text
    assert not page.all("script")
    assert " ".join(page.words).count(HOSTILE) >= 8


def test_the_same_content_gives_the_same_bytes(content):
    assert render_report(**content) == render_report(**content)
