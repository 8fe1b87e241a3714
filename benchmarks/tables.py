"""Tables that are not LendingClub: Ridgeline beside other methods, fold by fold.

    python benchmarks/tables.py                           # simulated tables alone
    python benchmarks/tables.py --folder FOLDER           # and heloc, adult, bike.csv
    python benchmarks/tables.py --tables heaps --methods xnn ebm --folds 2 --rows 2000
    python benchmarks/tables.py --folder FOLDER --results FILE --markdown

The published tables have the folds and the preparation of Kruschel et al. (2024, arXiv
2409.14429), whose figures stand in a column of their own; `tables_data.py` says what
the simulated ones are. FILE keeps what is finished, a line for each table, fold and
method, so that an interrupted run goes on. Delete it when the code has changed.

Every fit is in a process of its own, one after the other. 'Seconds' are those of `fit`,
with what it imports and compiles (nothing compiled is found on the disk); 'peak MB' is
its memory with that of its workers, shared pages counted once, looked at every half
second. Ridgeline's searches, EBM and LightGBM have all cores. No method sees a test
row. All have their defaults, but for what the functions below say, and the names of
the categorical columns; Ridgeline alone is also told which codes are no quantities.
`xnn_monotone` is for heloc alone, whose publisher states directions of 16 columns;
'certified' is the share of them whose certificate holds.
"""

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lendingclub import measure
from tables_data import PUBLISHED, SIMULATED, Table, load_table
from training import CORES, say, show

from ridgeline.provenance import git_state

PROJECT = Path(__file__).parents[1]
FOLDS = 5
TRUTH = "truth"
SEARCH = "xnn_cv"  # whose seconds are the unit of the others'
MONOTONE = "xnn_monotone"  # of tables that state directions alone
Answer = dict[str, Any]
Key = tuple[str, int, str, int | None]

# Kruschel et al. 2024: means of five folds, tuned on a quarter of the training rows.
KRUSCHEL: dict[str, dict[str, str]] = {
    "heloc": {"linear": ".795", "ebm": ".807", "mlp": ".796", "pyGAM": ".807"}
    | {"GAMI-Net": ".804", "IGANN": ".802", "XGBoost": ".802"},
    "adult": {"linear": ".906", "ebm": ".928", "mlp": ".915", "pyGAM": ".916"}
    | {"GAMI-Net": ".915", "IGANN": ".916", "XGBoost": ".929"},
    "bike": {"linear": ".776", "ebm": ".296", "mlp": ".224", "pyGAM": ".551"}
    | {"GAMI-Net": ".297", "IGANN": ".408", "XGBoost": ".214"},
}


# --- The methods: each function returns a model that is not fitted ---


def network(table: Table, fold: int, **settings: Any) -> Any:
    """Ridgeline's network at its default penalties."""
    from ridgeline import XNNClassifier, XNNRegressor

    kind = XNNClassifier if table.classify else XNNRegressor
    return kind(**_of_network(table, fold), **settings)


def search(table: Table, fold: int, **settings: Any) -> Any:
    """Ridgeline's network that chooses its penalties."""
    from ridgeline import XNNClassifierCV, XNNRegressorCV

    kind = XNNClassifierCV if table.classify else XNNRegressorCV
    return kind(**_of_network(table, fold), **settings)


def additive(table: Table, fold: int) -> Any:
    """The same search among additive models."""
    return search(table, fold, projection="identity")


def monotone(table: Table, fold: int) -> Any:
    """The same search with the directions that a table states."""
    return search(table, fold, monotone=table.monotone)


def near(table: Table, fold: int) -> Any:
    """The same search with projections that may overlap, at a price that it chooses."""
    return search(table, fold, projection="near")


def _of_network(table: Table, fold: int) -> dict[str, Any]:
    return {
        "categorical_features": table.categorical or None,
        "special_values": table.special_values,
        "unknown_category": "average",
        "random_state": fold,
    }


def linear(table: Table, fold: int) -> Any:
    """Logistic or ridge regression."""
    from sklearn.linear_model import LogisticRegression, Ridge

    if table.classify:
        return _filled(table, LogisticRegression(max_iter=2_000, random_state=fold))
    return _filled(table, Ridge(random_state=fold))


def mlp(table: Table, fold: int) -> Any:
    """scikit-learn's network."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPClassifier if table.classify else MLPRegressor
    settings = {"hidden_layer_sizes": (100, 60), "early_stopping": True}
    return _filled(table, kind(**settings, random_state=fold))


def _filled(table: Table, estimator: Any) -> Any:
    """Gaps filled by the median, numbers standardised, categories one-hot."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    numeric = [name for name in table.X if name not in table.categorical]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((numbers, numeric), (one_hot, table.categorical))
    return make_pipeline(columns, estimator)


def ebm(table: Table, fold: int) -> Any:
    """interpret's EBM, on all cores (its default leaves one out)."""
    from interpret.glassbox import (
        ExplainableBoostingClassifier,
        ExplainableBoostingRegressor,
    )

    kind = (
        ExplainableBoostingClassifier
        if table.classify
        else ExplainableBoostingRegressor
    )
    types = [
        "nominal" if name in table.categorical else "continuous" for name in table.X
    ]
    return kind(feature_types=types, n_jobs=-1, random_state=fold)


def lightgbm(table: Table, fold: int) -> Any:
    """LightGBM with a fixed number of trees; categories by their dtype."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if table.classify else LGBMRegressor
    settings = {"n_estimators": 300, "learning_rate": 0.05, "verbosity": -1}
    return kind(**settings, n_jobs=-1, random_state=fold)


class Method(NamedTuple):
    """A method of the comparison."""

    title: str
    package: str
    make: Callable[[Table, int], Any]


METHODS: dict[str, Method] = {
    "xnn": Method("Ridgeline, default", "tensorflow", network),
    SEARCH: Method("Ridgeline, CV", "tensorflow", search),
    MONOTONE: Method("Ridgeline, CV, monotone", "tensorflow", monotone),
    "xnn_near": Method("Ridgeline, CV, near", "tensorflow", near),
    "gam": Method("Ridgeline, GAM by CV", "tensorflow", additive),
    "linear": Method("linear", "sklearn", linear),
    "ebm": Method("EBM", "interpret", ebm),
    "lightgbm": Method("LightGBM, 300 trees", "lightgbm", lightgbm),
    "mlp": Method("MLP (100, 60)", "sklearn", mlp),
}


# --- One fit, in a process of its own ---


def folds_of(table: Table) -> list[tuple[Any, Any]]:
    """Training and test rows of the published folds."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if table.classify else KFold
    folds = kind(FOLDS, shuffle=True, random_state=42)
    return list(folds.split(np.zeros(len(table.y)), table.y))


def run_one(fold: int, method: str, table: Table) -> Answer:
    """Fit a method on a fold, and judge it on the fold's test rows."""
    from ridgeline.peak_memory import PeakMemory

    train, test = (table.take(rows) for rows in folds_of(table)[fold])
    model = METHODS[method].make(train, fold)
    if method == "lightgbm":
        train, test = _with_categories(train, test)
    memory = PeakMemory()
    memory.start(method)
    began = time.time()
    model.fit(train.X, train.y)
    ended = time.time()
    answer = {
        "seconds": ended - began,
        "peak MB": memory.stop(method),
        "began": began,
        "ended": ended,
        "fits": _fits(model),
        "components": _components(model),
    }
    if method == MONOTONE:
        answer["certified"] = float(model.explain().monotone["holds"].mean())
    if table.classify:
        return answer | judge(test, model.predict_proba(test.X)[:, 1])
    return answer | judge(test, model.predict(test.X))


def _with_categories(train: Table, test: Table) -> tuple[Table, Table]:
    """Categorical columns by the training rows' categories; others are missing."""
    kinds = {
        name: pd.CategoricalDtype(sorted(train.X[name].unique()))
        for name in train.categorical
    }
    return tuple(
        part._replace(
            X=part.X.assign(
                **{
                    name: part.X[name]
                    .where(part.X[name].isin(kind.categories))
                    .astype(kind)
                    for name, kind in kinds.items()
                }
            )
        )
        for part in (train, test)
    )


def judge(test: Table, predicted: Any) -> Answer:
    """AUC and log-loss of probabilities, or RMSE."""
    from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

    if not test.classify:
        return {"score": float(root_mean_squared_error(test.y, predicted))}
    return {
        "score": float(roc_auc_score(test.y, predicted)),
        "log-loss": float(log_loss(test.y, predicted)),
    }


def _fits(model: Any) -> int:
    """Candidates of a search, bags of an EBM, or one."""
    if hasattr(model, "results_"):
        return len(model.results_)
    return int(getattr(model, "outer_bags", 1))


def _components(model: Any) -> int | None:
    """Components in use, terms of an EBM."""
    if hasattr(model, "term_names_"):
        return len(model.term_names_)
    if hasattr(model, "scales_"):
        return int(np.count_nonzero(model.scales_))
    return None


def ask(key: Key, folder: Path | None) -> tuple[Answer, str]:
    """Run one fit in its own process; return its answer, or what went wrong."""
    name, fold, method, rows = key
    package = METHODS[method].package
    if importlib.util.find_spec(package) is None:
        return {}, f"{package} is not installed; `make install-extras` does it."
    words = [sys.executable, "-W", "ignore", str(Path(__file__).resolve())]
    words += ["--one", json.dumps([name, fold, method])]
    words += ["--rows", str(rows)] if rows else []
    words += ["--folder", str(folder.resolve())] if folder else []
    run = measure(words, PROJECT)
    if run.status != 0:
        return {}, f"its process ended with status {run.status}; see above."
    answer: Answer = json.loads(run.printed.splitlines()[-1])
    with_workers = run.peak(answer.pop("began"), answer.pop("ended"))
    answer["peak MB"] = max(answer["peak MB"], with_workers)
    return answer, ""


# --- What is finished ---


class Results:
    """Answers by table, fold, method and rows, kept in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[Key, Answer] = {}
        state = git_state(PROJECT)
        self._commit = "unknown"
        if state is not None:
            self._commit = state.commit[:7] + (" with changes" if state.dirty else "")
        if path is not None and path.exists():
            text = path.read_text()
            for line in text.splitlines():
                # The last line of a run that was killed may be half a line.
                with suppress(json.JSONDecodeError):
                    answer = json.loads(line)
                    self._found[tuple(answer.pop("key"))] = answer
            if text and not text.endswith("\n"):
                with path.open("a") as file:
                    file.write("\n")

    def __contains__(self, key: Key) -> bool:
        return key in self._found

    def get(self, key: Key) -> Answer | None:
        """The answer, if it is there."""
        return self._found.get(key)

    def add(self, key: Key, answer: Answer) -> None:
        """Keep an answer."""
        self._found[key] = answer | {"commit": self._commit}
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps({"key": key} | self._found[key]) + "\n")

    def commits(self, keys: list[Key]) -> list[str]:
        """What code made these answers."""
        return sorted({self._found[key]["commit"] for key in keys if key in self})


# --- The tables that are printed ---


def summary(name: str, table: Table, results: Results, arguments: Any) -> pd.DataFrame:
    """A row of text for each method, and for each published one."""
    folds, rows = range(arguments.folds), arguments.rows
    answers = {}
    for method in arguments.methods:
        found = [results.get((name, fold, method, rows)) for fold in folds]
        if all(found):
            answers[method] = pd.DataFrame(found).astype({"components": float})
    seconds = {method: frame["seconds"].mean() for method, frame in answers.items()}
    printed = []
    for method, frame in answers.items():
        row = {"method": METHODS[method].title} | scores(table, frame)
        row |= {
            "seconds": f"{seconds[method]:,.1f}",
            "times CV": _number(seconds[method] / seconds.get(SEARCH, np.nan), ".2f"),
            "peak MB": f"{frame['peak MB'].mean():,.0f}",
            "components": _number(frame["components"].mean(), ".1f"),
            "fits": f"{frame['fits'].mean():.0f}",
        }
        if "certified" in frame:
            row["certified"] = f"{frame['certified'].mean():.0%}"
        printed.append(row | {"published": KRUSCHEL.get(name, {}).get(method, "")})
    if table.truth is not None:
        printed.append({"method": TRUTH} | scores(table, truth_of(table, folds)))
    for title, score in KRUSCHEL.get(name, {}).items():
        if title not in METHODS:
            printed.append({"method": title, "published": score})
    text = pd.DataFrame(printed).fillna("")
    if "published" in text and name not in KRUSCHEL:
        text = text.drop(columns="published")
    return text


def scores(table: Table, frame: pd.DataFrame) -> dict[str, str]:
    """Mean and deviation of the score over folds; and the log-loss."""
    kind = "simulated data" if table.truth is not None else "real data"
    title = f"{'AUC' if table.classify else 'RMSE'}, {kind}"
    digits = ",.3f"
    values = frame["score"]
    spread = f" ± {values.std():{digits}}" if len(values) > 1 else ""
    found = {title: f"{values.mean():{digits}}{spread}"}
    if table.classify:
        found["log-loss"] = f"{frame['log-loss'].mean():.3f}"
    return found


def truth_of(table: Table, folds: range) -> pd.DataFrame:
    """What the function reaches that made the rows."""
    if table.classify:
        table = table._replace(truth=1 / (1 + np.exp(-table.truth)))
    tests = [table.take(test) for _, test in folds_of(table)]
    return pd.DataFrame([judge(tests[fold], tests[fold].truth) for fold in folds])


def _number(value: float, how: str) -> str:
    return "" if np.isnan(value) else format(value, how)


def show_markdown(table: pd.DataFrame) -> None:
    """Print a table in Markdown."""
    lines = [table.columns, ["---"] * table.shape[1], *table.to_numpy()]
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print(flush=True)


def describe(name: str, table: Table, commits: list[str], arguments: Any) -> None:
    """Say what a table is."""
    heading = f"### {name}\n" if arguments.markdown else f"{name}\n{'-' * len(name)}"
    print(heading, flush=True)
    kind = "two classes" if table.classify else "a number in standard deviations"
    better = "a larger AUC" if table.classify else "a smaller RMSE"
    say(
        f"{len(table.y):,} rows, {table.X.shape[1]} columns, {len(table.categorical)} "
        f"of them categorical; the response is {kind}, and {better} is better. Mean ± "
        f"standard deviation of {arguments.folds} of {FOLDS} folds, {CORES} cores; "
        f"commit {', '.join(commits) or 'unknown'}."
    )


# --- The run ---


def read_arguments() -> Any:
    """The options, checked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, help="with heloc, adult and bike.csv")
    parser.add_argument("--tables", nargs="+", choices=[*PUBLISHED, *SIMULATED])
    parser.add_argument("--folds", type=int, default=FOLDS, help="the first of five")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--results", type=Path, help="keeps what is finished")
    parser.add_argument("--rows", type=int, help="take so many, for a quick try")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not 1 <= arguments.folds <= FOLDS:
        parser.error(f"--folds must be from 1 to {FOLDS}, not {arguments.folds}")
    if arguments.rows is not None and arguments.rows < 100:
        parser.error(f"--rows must be at least 100, not {arguments.rows}")
    published = [*PUBLISHED] if arguments.folder else []
    arguments.tables = arguments.tables or [*published, *SIMULATED]
    for name in (one for one in arguments.tables if one in PUBLISHED):
        if arguments.folder is None:
            parser.error(f"{name} needs --folder, which has {name}.csv")
        if not (arguments.folder / f"{name}.csv").exists():
            parser.error(f"{arguments.folder} has no {name}.csv")
    return arguments


def main() -> None:
    """Run what is not finished and print a table for each data set."""
    arguments = read_arguments()
    folder, rows = arguments.folder, arguments.rows
    if arguments.one:
        name, fold, method = arguments.one
        with tempfile.TemporaryDirectory(prefix="ridgeline-tables-") as cache:
            os.environ["RIDGELINE_CACHE"] = cache
            table = load_table(name, folder, rows)
            print(json.dumps(run_one(fold, method, table)), flush=True)
        return
    results, missing = Results(arguments.results), []
    for name in arguments.tables:
        table = load_table(name, folder, rows)
        keys = [
            (name, fold, method, rows)
            for fold in range(arguments.folds)
            for method in arguments.methods
            if method != MONOTONE or table.monotone
        ]
        for key in (one for one in keys if one not in results):
            _, fold, method, _ = key
            print(f"{name}, fold {fold}, {method} ...", file=sys.stderr, flush=True)
            answer, problem = ask(key, folder)
            if problem:
                missing.append(f"{name}, fold {fold}, {method}: {problem}")
            else:
                results.add(key, answer)
        describe(name, table, results.commits(keys), arguments)
        text = summary(name, table, results, arguments)
        show_markdown(text) if arguments.markdown else show(text, {})
    for sentence in missing:
        say(sentence)
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
