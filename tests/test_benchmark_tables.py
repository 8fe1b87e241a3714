"""The benchmark of tables runs, goes on after an interruption, and prints its table."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SMALL = "--tables heaps --folds 1 --methods linear xnn --rows 600".split()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    script = str(PROJECT / "benchmarks" / "tables.py")
    return subprocess.run(
        [sys.executable, script, *words],
        capture_output=True,
        text=True,
        check=False,
    )


def cells(printed: str) -> dict[str, dict[str, str]]:
    """The Markdown table, by method and column."""
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in x.split("|")[1:-1]] for x in lines)
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def test_a_table_has_its_methods_and_its_truth_and_is_found_again(
    tmp_path: Path,
) -> None:
    results = tmp_path / "results.jsonl"
    first = run(*SMALL, "--markdown", "--results", str(results))
    assert first.returncode == 0, first.stderr
    table = cells(first.stdout)
    assert list(table) == ["linear", "Ridgeline, default", "truth"]
    auc = {name: float(row["AUC, simulated data"]) for name, row in table.items()}
    assert 0.5 < auc["linear"] <= 1
    assert 0.5 < auc["Ridgeline, default"] <= 1
    assert auc["truth"] > auc["linear"]
    assert table["Ridgeline, default"]["fits"] == "1"
    assert float(table["Ridgeline, default"]["components"]) >= 1
    assert float(table["linear"]["peak MB"].replace(",", "")) > 50

    # A run that was killed while it wrote: the whole lines count, the half one not.
    kept = results.read_text()
    results.write_text(kept + '{"key": ["heaps", 0, "e')
    again = run(*SMALL, "--markdown", "--results", str(results))
    assert again.stdout == first.stdout
    assert "..." not in again.stderr
    assert [json.loads(line)["key"][2] for line in kept.splitlines()] == [
        "linear",
        "xnn",
    ]


def test_directions_of_heloc_are_those_of_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(PROJECT / "benchmarks")
    data = importlib.import_module("tables_data")
    names = [*data.SAFER, *data.RISKIER, "MaxDelq2PublicRecLast12M", "MaxDelqEver"]
    lines = [",".join([*names, "RiskPerformance"])]
    lines += [",".join(["1"] * len(names) + [label]) for label in ("Good", "Bad")]
    (tmp_path / "heloc.csv").write_text("\n".join(lines))
    table = data.load_table("heloc", tmp_path)
    assert table.y.tolist() == [1, 0]
    assert len(table.monotone) == 16
    # A better external score is good, more inquiries are not.
    assert table.monotone["ExternalRiskEstimate"] == "increasing"
    assert table.monotone["NumInqLast6M"] == "decreasing"
    assert table.take([0]).monotone == table.monotone


def test_a_published_table_needs_its_file(tmp_path: Path) -> None:
    alone = run("--tables", "bike")
    assert alone.returncode == 2
    assert "bike needs --folder" in alone.stderr
    empty = run("--tables", "bike", "--folder", str(tmp_path))
    assert empty.returncode == 2
    assert "has no bike.csv" in empty.stderr
