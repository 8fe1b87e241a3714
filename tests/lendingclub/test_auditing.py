"""The audit adds up, step by step, and on the real samples to the paper's counts."""

import pytest

from ridgeline.lendingclub.auditing import (
    audit_cleaning,
    audit_metrics,
    audit_text,
)
from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.pipelines.data.nodes import type_applications

RULES = CleaningRules()


@pytest.fixture
def audited(write_published, duckdb):
    """Audit two published files with the given rows and lines."""

    def audit(accepted=({},), rejected=({},), extra_lines=""):
        files = {
            "accepted": write_published("accepted", accepted),
            "rejected": write_published("rejected", rejected),
        }
        with files["rejected"].open("a") as file:
            file.write(extra_lines)
        return audit_files(duckdb, files)

    return audit


def audit_files(connection, files):
    tables = [
        read_published(connection, find_files(str(path), kind), kind)
        for kind, path in files.items()
    ]
    typed, malformed, counts = type_applications(*tables)
    typed = typed.cache()  # as in a run: the typed table is saved before the audit
    lines = {name: LineCount(**count) for name, count in counts.items()}
    audit = audit_cleaning(typed, malformed, lines, RULES)
    return audit, clean_applications(typed, RULES).execute()


def step(audit, name, of="rejected"):
    return audit[(audit.step == name) & (audit["class"] == of)].iloc[0]


def test_real_samples_give_exactly_the_papers_counts(real_samples, duckdb):
    audit, clean = audit_files(duckdb, real_samples)
    assert step(audit, "outside_window", "accepted").kept == 3206
    assert step(audit, "outside_window", "rejected").kept == 1034
    assert clean.approved.value_counts().to_dict() == {1: 3206, 0: 1034}


def test_each_step_takes_what_the_former_left(audited):
    audit, clean = audited(
        rejected=[{}, {"dti": "-1%"}, {"dti": "300%"}, {"amount": "50000"}, {}]
    )
    for name in ("accepted", "rejected"):
        steps = audit[(audit.section == "filter") & (audit["class"] == name)]
        assert (steps.rows_in - steps.removed == steps.kept).all()
        assert (steps.rows_in.iloc[1:].to_numpy() == steps.kept.iloc[:-1]).all()
    assert step(audit, "dti_out_of_range").removed == 2
    assert step(audit, "amount_too_high").removed == 1
    assert step(audit, "outside_window").kept == (clean.approved == 0).sum() == 2


def test_unreadable_cells_are_counted_with_examples(audited):
    audit, _ = audited(rejected=[{"dti": "b%"}, {"dti": "a%"}, {"dti": "b%"}, {}])
    row = step(audit, "dti")
    assert (row.section, row.removed, row.examples) == ("unparseable", 3, "a%; b%")
    assert step(audit, "missing_value").removed == 3
    assert step(audit, "amount").removed == 0


def test_lines_that_are_no_rows_are_counted(audited):
    audit, _ = audited(extra_lines="only,three,fields\n")
    row = step(audit, "line")
    assert (row.rows_in, row.removed, row.kept) == (2, 1, 1)
    assert row.examples == "only,three,fields"
    assert step(audit, "line", "accepted").removed == 0


def test_metrics_are_the_audit_as_numbers(audited):
    audit, _ = audited(rejected=[{}, {"risk_score": "?"}])
    metrics = audit_metrics(audit)
    assert metrics["rejected.missing_value.removed"] == 1
    assert metrics["rejected.outside_window.kept"] == 1
    assert metrics["rejected.risk_score.unparseable"] == 1
    assert metrics["accepted.line.malformed"] == 0
    assert all(isinstance(value, float) for value in metrics.values())


def test_text_fits_a_terminal_at_full_size(audited):
    audit, _ = audited(rejected=[{}, {"risk_score": "?"}])
    full = audit["class"].map({"accepted": 2_260_668, "rejected": 27_648_741})
    for name in ("rows_in", "removed", "kept"):
        audit[name] += full
    text = audit_text(audit)
    assert (
        max(len(line) for line in text.splitlines()) <= 71
    )  # the console's 80 less its margin
    assert "27,648,742" in text
    assert "bad risk_score (rejected), e.g. ?" in text
