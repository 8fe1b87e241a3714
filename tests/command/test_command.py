"""The command in processes of its own: what it prints, writes, loads and refuses."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from known_model import make_known, make_rows
from profiled_model import make_profiled

from ridgeline import Policy, load, reasons, score_table

HEAVY = {"tensorflow", "keras", "sklearn", "scipy", "matplotlib", "joblib", "mlflow"}


def expected(folder, policy=None):
    """Return what the library says of the table."""
    rows = pd.read_csv(folder / "rows.csv", dtype=object)
    return score_table(load(folder / "model.json"), rows, policy)


def texts(cells):
    """Return cells as text, gaps as nothing."""
    return ["" if pd.isna(cell) else str(cell) for cell in cells]


class TestScore:
    """`ridgeline score`."""

    @pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "ndjson"])
    @pytest.mark.parametrize("chunk", [7, 1000])
    def test_every_format_says_what_the_library_says(
        self, ridgeline, folder, ending, chunk
    ):
        out = folder / f"out.{ending}"
        done = ridgeline(
            "score", "model.json", "rows.csv", "-o", out, "--chunk-rows", chunk
        )
        assert done.stdout == ""
        assert "3 of 60 rows cannot be scored (row 4: 'amount' holds" in done.stderr
        read = {"csv": pd.read_csv, "parquet": pd.read_parquet}
        found = read.get(ending, lambda path: pd.read_json(path, lines=True))(out)
        scores, refused = expected(folder)
        assert list(found.columns) == list(scores.columns)
        np.testing.assert_allclose(found["log_odds"], scores["log_odds"], rtol=1e-12)
        for name in ("row", "decision", "reason_1", "reason_2", "reason_4_feature"):
            assert texts(found[name]) == texts(scores[name])
        beside = pd.read_csv(f"{out}.refused.csv")
        assert beside.astype(str).equals(refused.astype(str))
        assert {path.name for path in folder.iterdir()} == {
            *("model.json", "rows.csv", out.name, f"{out.name}.refused.csv")
        }

    def test_to_the_terminal(self, ridgeline, folder):
        done = ridgeline("score", "model.json", "rows.csv", "--keep", "id")
        assert done.stdout.startswith("row,id,probability,decision,log_odds,")
        assert len(done.stdout.splitlines()) == 58
        assert not (folder / "out.csv").exists()

    def test_parquet_in_is_csv_in(self, ridgeline, folder):
        rows = pd.read_csv(folder / "rows.csv")
        rows["amount"] = pd.to_numeric(rows["amount"], errors="coerce")
        rows.to_parquet(folder / "rows.parquet")
        one = ridgeline("score", "model.json", "rows.parquet", "--chunk-rows", 9)
        two = ridgeline("score", "model.json", "rows.csv")
        assert one.stdout == two.stdout

    def test_a_category_that_looks_like_a_number_stays_text(self, ridgeline, folder):
        from dataclasses import replace

        known = make_known()
        categories = {"purpose": ("36", "60", "NA")}
        features = replace(known.features, categories=categories)
        from profiled_model import profiled

        rows = make_rows(9).assign(purpose=["36", "60", "NA"] * 3)
        scorer = profiled(replace(known, features=features), rows)
        scorer.save(folder / "terms.json")
        rows.to_csv(folder / "terms.csv", index=False)
        done = ridgeline("score", "terms.json", "terms.csv", "-o", "out.csv")
        assert done.stderr == ""
        found = pd.read_csv(folder / "out.csv")["log_odds"]
        np.testing.assert_allclose(found, scorer.decision_function(rows), rtol=1e-12)

    def test_a_policy_file(self, ridgeline, folder):
        template = ridgeline("describe", "model.json", "--policy-template").stdout
        policy = json.loads(template) | {
            "cutoff": 0.9,
            "points": {"base": 600, "odds": 30, "double": 20},
            "decisions": {"declined": "refused"},
            "labels": {"amount": "loan amount"},
        }
        (folder / "policy.json").write_text(json.dumps(policy))
        done = ridgeline("score", "model.json", "rows.csv", "--policy", "policy.json")
        assert ",refused," in done.stdout
        assert "points" in done.stdout.splitlines()[0]
        again = ridgeline(
            *("score", "model.json", "rows.csv", "--policy", "policy.json"),
            *("--cutoff", 0.000001),
        )
        assert ",refused," not in again.stdout

    def test_a_former_output_stays_where_a_run_fails(self, ridgeline, folder):
        (folder / "out.csv").write_text("former")
        lines = (folder / "rows.csv").read_text().splitlines()
        (folder / "bad.csv").write_text("\n".join([*lines, "1,2,3,4,5,6,7,8,9"]))
        done = ridgeline(
            *("score", "model.json", "bad.csv", "-o", "out.csv", "--chunk-rows", 7),
            code=2,
        )
        assert "cannot be read as CSV" in done.stderr
        assert (folder / "out.csv").read_text() == "former"

    def test_refusals_of_a_former_run_do_not_stay(self, ridgeline, folder):
        ridgeline("score", "model.json", "rows.csv", "-o", "out.csv")
        make_rows(5).to_csv(folder / "good.csv", index=False)
        ridgeline("score", "model.json", "good.csv", "-o", "out.csv")
        assert (folder / "out.csv.refused.csv").read_text() == "row,column,reason\n"

    def test_a_closed_pipe_is_quiet(self, folder):
        make_rows(20_000).to_csv(folder / "many.csv", index=False)
        program = f"{sys.executable} -m ridgeline score model.json many.csv | head -1"
        done = subprocess.run(
            program, shell=True, cwd=folder, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert done.stdout.startswith("row,probability")

    def test_memory_does_not_grow_with_the_file(self, folder):
        """A chunk is let go before the next is read."""
        import gc
        import weakref

        from ridgeline.command.reading import read_chunks

        scorer, alive = make_profiled(), []
        for chunk in read_chunks(str(folder / "rows.csv"), scorer, 10):
            assert len(chunk) <= 10
            gc.collect()
            assert sum(each() is not None for each in alive) <= 1
            alive.append(weakref.ref(chunk))
        assert len(alive) == 6


class TestOneRow:
    """`ridgeline explain` and `ridgeline what-if`."""

    def test_explain(self, ridgeline, folder):
        done = ridgeline("explain", "model.json", "rows.csv", "--row", 1)
        scorer = load(folder / "model.json")
        row = make_rows(60, 5).head(1)
        probability = scorer.predict_proba(row)[0, 1]
        assert f"declined, probability {probability:.4f}" in done.stdout
        said = re.findall(r"reason \d: (.+)", done.stdout)
        assert said == reasons(scorer, row)["sentence"].tolist()

    def test_json_adds_up(self, ridgeline, folder):
        done = ridgeline(
            *("explain", "model.json", "rows.csv", "--row", 9, "--json"),
            *("--chunk-rows", 4),
        )
        found = json.loads(done.stdout)
        total = sum(each["contribution"] for each in found["table"])
        intercept = load(folder / "model.json").intercept
        assert abs(intercept + total - found["decision"]) < 1e-9

    def test_what_if(self, ridgeline, folder):
        policy = {"not_adjustable": ["purpose"]}
        (folder / "policy.json").write_text(json.dumps(policy))
        done = ridgeline("what-if", "model.json", "rows.csv", "--policy", "policy.json")
        assert "would be approved" in done.stdout
        assert "not adjustable:\n  purpose is not adjustable" in done.stdout

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            (4, "The row cannot be scored: its 'amount' holds 'abc'"),
            (61, "has 60 rows; --row 61 is beyond them"),
            (0, "0 is not a positive number"),
            ("x", "invalid _positive value: 'x'"),
        ],
    )
    def test_rows_that_there_are_not(self, ridgeline, row, said):
        for command in ("explain", "what-if"):
            done = ridgeline(command, "model.json", "rows.csv", "--row", row, code=2)
            assert said in done.stderr
            assert len(done.stderr.splitlines()) == 1


class TestModels:
    """Where a model may be."""

    def test_a_folder_that_holds_one(self, ridgeline, folder):
        inside = folder / "registered" / "artifacts"
        inside.mkdir(parents=True)
        shutil.copy(folder / "model.json", inside / "xnn.refined.json")
        (inside / "other.json").write_text("{}")
        one = ridgeline("describe", "registered").stdout
        assert one == ridgeline("describe", "model.json").stdout
        shutil.copy(folder / "model.json", inside / "second.json")
        done = ridgeline("describe", "registered", code=2)
        assert "holds 2 model files" in done.stderr

    def test_mlflow_has_no_such_model(self, ridgeline, monkeypatch):
        pytest.importorskip("mlflow")
        # The package warns of its own parts.
        monkeypatch.setenv("PYTHONWARNINGS", "ignore")
        done = ridgeline("describe", "models:/none@champion", code=2, strict=False)
        assert "MLflow has no model 'models:/none@champion'" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_describe(self, ridgeline):
        said = ridgeline("describe", "model.json").stdout
        assert "a classifier: log-odds of 1 against 0" in said
        assert "trained on 3,000 rows" in said
        assert "Credit Card, Housing, Others" in said


class TestDrift:
    """`ridgeline drift`."""

    def test_table_and_page(self, ridgeline, folder):
        rows = make_rows(2_000, 9)
        rows["amount"] *= 0.8
        rows.to_csv(folder / "moved.csv", index=False)
        done = ridgeline("drift", "model.json", "moved.csv", "-o", "drift.html")
        assert re.search(r"feature +amount +1\.\d+ .* drifted", done.stdout)
        assert re.search(r"feature +purpose +0\.0\d+ .* stable", done.stdout)
        assert "<svg" in (folder / "drift.html").read_text()


class TestStart:
    """What is loaded before a row is read."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ("describe", "model.json"),
            ("score", "model.json", "rows.csv", "-o", "out.csv"),
            ("explain", "model.json", "rows.csv"),
            ("what-if", "model.json", "rows.csv"),
            ("drift", "model.json", "rows.csv"),
        ],
        ids=lambda each: each[0],
    )
    def test_nothing_heavy(self, loaded, arguments):
        modules = loaded(*arguments)
        assert modules.isdisjoint(HEAVY)
        assert ("pandas" in modules) == (arguments[0] != "describe")

    def test_help_has_examples_and_needs_no_numpy(self, ridgeline):
        for command in (
            (),
            *((c,) for c in "score explain describe drift fit".split()),
        ):
            said = ridgeline(*command, "--help").stdout
            assert "examples:\n  ridgeline " in said
        script = "import sys; from ridgeline.command.arguments import parse;"
        script += "parse(['describe', 'm']); print(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert "numpy" not in done.stdout.split()


class TestRefusals:
    """One line, and 2."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((), "arguments are required: COMMAND"),
            (("scor",), "invalid choice: 'scor'"),
            (("score", "model.json"), "arguments are required: FILE"),
            (("score", "none.json", "rows.csv"), "'none.json' does not exist"),
            (("score", "rows.csv", "rows.csv"), "is not JSON"),
            (("score", "model.json", "none.csv"), "'none.csv' does not exist"),
            (("score", "model.json", "."), "'.' is a folder"),
            (("score", "model.json", "model.json"), "lacks the columns"),
            (("score", "model.json", "empty.csv"), "cannot be read as CSV"),
            (("score", "model.json", "header.csv"), "has no rows"),
            (("score", "model.json", "binary.csv"), "cannot be read as CSV"),
            (("score", "model.json", "text.parquet"), "cannot be read as Parquet"),
            (("score", "model.json", "rows.csv", "-o", "out.xlsx"), "must end in .csv"),
            (("score", "model.json", "rows.csv", "-o", "no/out.csv"), "is missing"),
            (("score", "model.json", "rows.csv", "--keep", "x"), "lacks the columns"),
            (("score", "model.json", "rows.csv", "--cutoff", "2"), "a probability"),
            (("score", "model.json", "rows.csv", "--policy", "no"), "does not exist"),
            (("drift", "model.json", "rows.csv", "-o", "d.pdf"), "must end in .html"),
            (("fit", "rows.csv", "--target", "x", "-o", "m.json"), "no column 'x'"),
            (("fit", "rows.csv", "--target", "id", "-o", "m.json"), "60 values that"),
            (("fit", "rows.csv", "--target", "id", "-o", "m"), "must end in .json"),
        ],
        ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
    )
    def test_one_line(self, ridgeline, folder, arguments, said):
        (folder / "empty.csv").write_text("")
        (folder / "header.csv").write_text("risk_score,amount,purpose\n")
        (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x80" * 50)
        (folder / "text.parquet").write_text("risk_score,amount,purpose\n1,2,3\n")
        done = ridgeline(*arguments, code=2)
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stdout == ""

    def test_a_model_without_a_profile_says_so(self, ridgeline, folder):
        make_known().save(folder / "plain.json")
        done = ridgeline("score", "plain.json", "rows.csv", code=2)
        assert "does not remember its training rows" in done.stderr
        assert "no memory" in ridgeline("describe", "plain.json").stdout
        said = ridgeline("explain", "plain.json", "rows.csv").stdout
        assert "contribution" in said
        assert "difference" not in said

    def test_other_failures_are_one_line_too(self, folder, monkeypatch, capsys):
        from ridgeline.command import main, models

        def fail(_):
            raise ZeroDivisionError("by zero")

        monkeypatch.setattr(models, "load_model", fail)
        assert main(["describe", str(folder / "model.json")]) == 1
        said = capsys.readouterr().err
        assert said == (
            "ridgeline: ZeroDivisionError: by zero; --traceback shows where.\n"
        )
        with pytest.raises(ZeroDivisionError):
            main(["describe", str(folder / "model.json"), "--traceback"])


def test_cutoff_of_the_library_and_of_the_command_are_one(ridgeline, folder):
    done = ridgeline(
        "score", "model.json", "rows.csv", "--cutoff", 0.8, "--reference", "best"
    )
    scores = expected(folder, Policy(cutoff=0.8, reference="best")).scores
    assert done.stdout == scores.to_csv(index=False)
