"""The study's report is one file, tells what the tables hold, and escapes names."""

import re

import numpy as np
import pandas as pd
import pytest
from html_page import Page, check_alone, check_readable
from matplotlib.figure import Figure

from ridgeline.simulation.paper import CITATION, NOT_COMPARABLE_REASON, PAPER_MSE
from ridgeline.simulation.report.findings import study_findings
from ridgeline.simulation.report.page import render_study

HOSTILE = "<script>alert('x')</script>&\"$"
# Mean errors; each has two repetitions, 0.01 above and below.
MEANS = {
    ("S1", 1000, "xnn"): 1.08,  # the paper: 1.086
    ("S1", 1000, "naive_xnn"): 1.2,
    ("S1", 2000, "xnn"): 1.06,  # the paper: 1.039
    ("S1", 2000, "naive_xnn"): 1.03,  # the paper: 1.043
    ("S6", 1000, "xnn"): 1.11,  # the paper: 1.105, within the error
    ("S6", 1000, "mlp"): 1.02,  # the paper: 1.083
    ("S3", 1000, "xnn"): 1.3,
    ("S3", 1000, "mlp"): 1.2,
}
OVERLAPS = {"xnn": (0.0, 1e-15), "naive_xnn": (0.3, 0.8)}
FINDINGS = [
    "The enhanced network's mean test MSE is at or below the paper's, within one "
    "standard error of our mean, in 2 of the 3 cells that compare (S1 and S6).",
    "It is above in S1 at n = 2,000 (1.060 against 1.039, 2.1 standard errors).",
    "Without our own test noise, and without what the paper's figures of the other "
    "models show of its own, the gap is +0.034 in S1 at n = 2,000.",
    "No other model's mean test MSE is smaller by more than that standard error in 1 "
    "of these 3 cells.",
    "Another is better, as in the paper, in S6 at n = 1,000 (MLP).",
    "Another is better, but not in the paper, in S1 at n = 2,000 (xNN (naive)).",
    "Its mean excess error, which has no test noise in it, is the smallest of all "
    "models in 1 of all 4 cells.",
    "Two projections of a naive network overlap by up to 0.80 (S1 at n = 1,000) and by "
    "0.30 on average; of an enhanced one by at most 1e-15. Overlap is the absolute "
    "cosine between two projections.",
    "In S1 at n = 2,000, the enhanced network's projections have a mean cosine of "
    "0.990 with the true ones (naive: 0.700).",
]


def row(scenario, n, model, number):
    mse = MEANS[(scenario, n, model)] + (0.01, -0.01)[number]
    found = {"scenario": scenario, "n": n, "repetition": number, "model": model}
    found |= {
        "fits": 34 if model == "xnn" else 25,
        "seconds": 3.0,
        "mse": mse,
        "excess": mse - 1,
        "n_components": 4,
    }
    if model in OVERLAPS:
        found["overlap_mean"], found["overlap_max"] = OVERLAPS[model]
        found["orthogonality_error"] = 2e-7
    if scenario == "S1":
        cosine = 0.99 if model == "xnn" else 0.7
        found |= {"cosine_mean": cosine, "cosine_min": 0.5, "curve_error": 0.1}
    return found


@pytest.fixture
def results():
    found = [row(*cell, number) for cell in MEANS for number in range(2)]
    svm = {"scenario": "S6", "n": 1000, "repetition": 0, "model": "svm"}
    found.append({**svm, "seconds": 0.0, "not_applicable": "too many rows."})
    return pd.DataFrame(found)


def figure():
    made = Figure(figsize=(1, 1))
    made.add_subplot().plot([0, 1])
    return made


@pytest.fixture
def content(results):
    return {
        "results": results,
        "figures": {"errors": figure(), "S1": figure(), "S6": figure()},
        "reproduce": {"command": "kedro run", "seed": "0"},
    }


def test_findings_are_computed_from_the_results(results):
    assert study_findings(results) == FINDINGS


def test_a_small_study_says_only_what_it_can(results):
    few = results[(results["model"] == "mlp") & (results["repetition"] == 0)]
    few = few.assign(n=300)["scenario n model fits seconds mse excess".split()]
    assert study_findings(few) == [
        "No cell of this study is in the paper's table.",
        "Its mean excess error, which has no test noise in it, is the smallest of all "
        "models in 0 of all 2 cells.",
    ]


def test_one_repetition_has_no_standard_errors(results):
    once = results[results["repetition"] == 0]
    sentences = study_findings(once)
    assert sentences[0].endswith("in 0 of the 3 cells that compare (S1 and S6).")
    assert "S1 at n = 1,000 (1.090 against 1.086)" in sentences[1]


def test_report_needs_nothing_beside_itself(content):
    text = render_study(**content)
    check_alone(text)
    assert len(Page(text).all("img")) == 3


def test_report_can_be_read_by_all(content):
    check_readable(render_study(**content))


def test_report_tells_the_findings_the_tables_and_the_limits(content):
    page = Page(render_study(**content))
    for sentence in (*FINDINGS, CITATION, NOT_COMPARABLE_REASON, "kedro run"):
        assert sentence in page.text
    assert page.bold == ["1.080", "1.030", "1.200", "1.020"]  # the best of four rows
    assert "1.080 (0.014) 1.086" in page.text  # ours, and the paper's below
    assert "S6: not additive, sine times exponential" in page.text
    assert "SVR was not fitted in 1 of 1 tasks: too many rows." in page.text
    assert "3 scenarios, n = 1,000 and 2,000, 2 repetitions, 3 models" in page.text
    assert "16 fitted models" in page.text
    assert "task: xNN (enhanced) 34, xNN (naive) 25, MLP 25." in page.text
    assert "2e-07" in page.text


def test_scenarios_that_do_not_compare_have_no_figure_of_the_paper(content):
    printed = PAPER_MSE.set_index(["scenario", "n", "model"])["mse"]
    text = Page(render_study(**content)).text
    assert f"{printed['S3', 1000, 'mlp']:.3f}" not in text
    assert f"{printed['S6', 1000, 'mlp']:.3f}" in text


def test_what_is_not_there_is_left_out(content):
    forest = content["results"][content["results"]["model"] == "mlp"]
    bare = content | {
        "results": forest.drop(
            columns=["not_applicable", "overlap_max", "cosine_mean"]
        ),
        "figures": {},
    }
    page = Page(render_study(**bare))
    assert not page.all("img")
    assert "was not fitted" not in page.text
    assert "1.020 (0.014)" in page.text


def test_hostile_names_stay_text(content):
    results = content["results"].replace({"mlp": HOSTILE, "too many rows.": HOSTILE})
    hostile = content | {"results": results, "reproduce": {HOSTILE: HOSTILE}}
    text = render_study(**hostile)
    assert "<script" not in text
    assert " ".join(Page(text).words).count(HOSTILE) >= 8


def test_the_same_content_gives_the_same_bytes(content):
    assert render_study(**content) == render_study(**content)


def test_numbers_that_are_missing_are_dashes(content):
    table = content["results"]
    gone = table.assign(
        orthogonality_error=np.nan,
        seconds=table["seconds"].where(table["model"] != "mlp"),
    )
    text = Page(render_study(**content | {"results": gone})).text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    assert "MLP –" in text
