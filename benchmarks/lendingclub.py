"""The whole pipeline node by node, and other models on the same rows.

    python benchmarks/lendingclub.py                    # a twentieth of the full size
    python benchmarks/lendingclub.py --scale 1          # full: 2.8 million to train on
    python benchmarks/lendingclub.py --folder FOLDER    # keep and reuse the raw files
    python benchmarks/lendingclub.py --skip ebm mlp

`kedro run` works in a copy of the project; MLflow has the time and memory of each node.
Then every model runs in a process of its own, one after the other, on the Parquet files
that the pipeline left: scikit-learn's network and LightGBM as the pipeline's baselines
tune and fit them, interpret's EBM (extra `[bench]`), and the stored xNN, which is only
scored. Tables go to stdout, what Kedro says to stderr. Ratios mean more than seconds:
they come from one run on one machine.

All have the same rows, to train on and to choose and stop by, and no choice sees the
test rows. Not equal: the EBM has its defaults where the others are tuned, and each of
its bags draws other rows to stop by, so that together they train on all rows.

Two kinds of memory: 'peak' is that of the main process as Linux keeps it, exact;
'with workers' adds the processes that it started, shared pages counted once, looked at
every half second (a node that is over sooner may show its own process alone).
"""

import argparse
import importlib.util
import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import yaml
from training import say, show

PROJECT = Path(__file__).parents[1]
ENVIRONMENT = "benchmark"
SETS = "data/05_model_input"
MODELS = "data/06_models"
PIPELINES = "data,tuning,training,pruning,refinement"
TUNING_NODE = "xnn.tune_penalties"
FIT_NODES = ["xnn.train_network", "xnn.refine_network"]
MAX_EPOCHS = 400  # as in conf/base: fewer rows need more epochs, up to a point
EPOCH_KEYS = {"max_epochs", "max_iter", "n_iter_no_change"}
MEMORY_AIM = 4_000  # MB, of the xNN's nodes
CORES = joblib.cpu_count()
SEED = 0
INTERVAL = 0.5  # seconds between looks at the memory of all processes
Answer = dict[str, Any]
# Of the comparison, with the format of each.
COLUMNS = {"model": "", "fits": ",.0f", "tuning s": ",.1f", "fit s": ",.1f"}
COLUMNS |= {"times xNN": ".2f", "predict s": ".2f", "peak MB": ",.0f"}
COLUMNS |= {"with workers MB": ",.0f", "AUC": ".4f", "log-loss": ".4f"}


class Measured(NamedTuple):
    """A process that has ended."""

    status: int
    seconds: float
    printed: str
    memory: dict[float, float]  # MB of it and its workers, by seconds since 1970

    def peak(self, began: float = 0, ended: float = math.inf) -> float:
        """Largest memory seen between two moments; 0 when nobody looked."""
        seen = (mb for at, mb in self.memory.items() if began <= at <= ended)
        return max(seen, default=0.0)


# --- Processes ---


def measure(words: list[str], folder: Path, said: Any = None) -> Measured:
    """Run a command and look at its memory; what it prints is kept, or goes to `said`.

    It is in a process group of its own: that is how its workers are found, and what
    ends when the benchmark is interrupted.
    """
    began, memory = time.time(), {}
    with tempfile.TemporaryFile("w+") as printed:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=os.environ | {"DO_NOT_TRACK": "true"},
            stdout=said or printed,
            start_new_session=True,
        )
        try:
            while child.poll() is None:
                memory[time.time()] = group_memory(child.pid)
                with suppress(subprocess.TimeoutExpired):
                    child.wait(INTERVAL)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        seconds = time.time() - began
        printed.seek(0)
        return Measured(child.wait(), seconds, printed.read(), memory)


def group_memory(group: int) -> float:
    """MB of all processes of a group, shared pages by share; 0 where unknown."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end while it is looked at.
        with suppress(OSError):
            if os.getpgid(int(folder.name)) == group:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                total += sum(int(x.split()[1]) for x in lines if x.startswith("Pss:"))
    return total * 1024 / 1e6


# --- The pipeline ---


def copy_project(target: Path, scale: float, raw: Path | None) -> None:
    """Copy the project, with an environment of this size in it.

    Epochs grow as rows shrink, so that the networks make as many steps.
    """
    for name in ("conf", "src"):
        shutil.copytree(PROJECT / name, target / name)
    for name in ("pyproject.toml", ".telemetry"):
        shutil.copy(PROJECT / name, target / name)
    (target / "conf/local").mkdir(exist_ok=True)
    if raw is not None:
        raw.mkdir(parents=True, exist_ok=True)
        (target / "data").mkdir()
        (target / "data/01_raw").symlink_to(raw.resolve(), target_is_directory=True)
    paper = PROJECT / "conf/paper"
    settings = yaml.safe_load((paper / "globals.yml").read_text())
    settings["data"] = "data"
    rows = settings["simulated_rows"]
    settings["simulated_rows"] = {kind: round(n * scale) for kind, n in rows.items()}
    parameters = yaml.safe_load((paper / "parameters.yml").read_text())
    baselines = (one.get("settings", {}) for one in parameters["baselines"].values())
    for group in (parameters["xnn"]["training"], *baselines):
        for key in EPOCH_KEYS & group.keys():
            group[key] = min(MAX_EPOCHS, round(group[key] / scale))
    conf = target / "conf" / ENVIRONMENT
    conf.mkdir()
    (conf / "globals.yml").write_text(yaml.safe_dump(settings))
    (conf / "parameters.yml").write_text(yaml.safe_dump(parameters))


def run_pipeline(project: Path, pipelines: str) -> pd.DataFrame:
    """Run the pipelines with Kedro; return and print a row for each node."""
    words = [sys.executable, "-m", "kedro", "run", "--env", ENVIRONMENT]
    run = measure([*words, "--pipelines", pipelines], project, said=sys.stderr)
    if run.status != 0:
        sys.exit("kedro run failed; what it said is above.")
    nodes = read_nodes(project / "mlflow.db", run)
    rows = read_json(project, "xnn_training_report")["rows"]
    counts = ", ".join(f"{count:,} {name} rows" for name, count in rows.items())
    say(
        f"kedro run --pipelines {pipelines}: {counts}, {CORES} cores. A node lasts "
        "from the loading of its first input to the saving of its last output."
    )
    show(nodes, {"seconds": ",.1f"}, ",.0f")
    total = nodes["seconds"].sum()
    say(
        f"{total:,.0f} s in the nodes and {run.seconds:,.0f} s in all: the rest is "
        "start-up, simulating the raw files if they were not there, hashing them and "
        f"logging to MLflow. With workers it peaks at {run.peak():,.0f} MB."
    )
    network = nodes[nodes["node"].str.startswith("xnn.")].max(numeric_only=True)
    say(
        f"The xNN's nodes peak at {network['peak MB']:,.0f} MB and with workers, which "
        "the tuning starts and which idle on for a while after it, at "
        f"{network['with workers MB']:,.0f} MB (the aim is below {MEMORY_AIM:,})."
    )
    return nodes


def read_nodes(database: Path, run: Measured) -> pd.DataFrame:
    """Take each node's time and memory from MLflow's database, in their order."""
    query = "SELECT key, value, timestamp / 1000.0 FROM latest_metrics"
    with sqlite3.connect(database) as connection:
        metrics = {key: rest for key, *rest in connection.execute(query)}
    nodes = []
    for key, (seconds, ended) in sorted(metrics.items(), key=lambda x: x[1][1]):
        name, _, kind = key.rpartition(".")
        if kind == "duration_seconds":
            peak, _ = metrics[f"{name}.peak_memory_mb"]
            seen = max(peak, run.peak(ended - seconds, ended))
            nodes.append((name, seconds, peak, seen))
    columns = ["node", "seconds", "peak MB", "with workers MB"]
    return pd.DataFrame(nodes, columns=columns)


def read_json(project: Path, name: str) -> Answer:
    """Read a report that the pipeline left."""
    return json.loads((project / MODELS / f"{name}.json").read_text())


# --- The models: each function runs in a process of its own ---


def fit_registered(
    name: str, train: Any, held: Any, project: Path
) -> tuple[Any, Answer]:
    """A baseline of the pipeline, tuned and fitted as its parameters say."""
    from kedro.config import OmegaConfigLoader

    from ridgeline.baselines.fitting import NotApplicable, fit_baseline
    from ridgeline.baselines.settings import BaselineSettings
    from ridgeline.settings import CONFIG_LOADER_ARGS

    conf = str(project / "conf")
    loader = OmegaConfigLoader(conf, env=ENVIRONMENT, **CONFIG_LOADER_ARGS)
    settings = BaselineSettings(**loader["parameters"]["baselines"][name])
    try:
        fitted = fit_baseline(name, "classification", settings, train, held, SEED)
    except NotApplicable as reason:
        sys.exit(str(reason))
    return fitted.model, {
        "fits": fitted.n_fits,
        "tuning s": fitted.tuning_seconds,
        "fit s": fitted.fit_seconds,
    }


def fit_ebm(_: str, train: Any, held: Any, __: Path) -> tuple[Any, Answer]:
    """interpret's EBM with its defaults, but on all cores.

    Each of its bags sets rows aside to stop by: as many as the others have for it.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    rows = pd.concat([train.features, held.features], ignore_index=True)
    labels = np.concatenate([train.target, held.target])
    model = ExplainableBoostingClassifier(
        validation_size=len(held.target), n_jobs=-1, random_state=SEED
    )
    began = time.perf_counter()
    model.fit(rows, labels)
    seconds = time.perf_counter() - began
    return model, {"fits": 1, "tuning s": 0.0, "fit s": seconds}


XNN = "xnn"
# Title, package and function of each model beside the xNN.
PEERS: dict[str, tuple[str, str, Callable[..., tuple[Any, Answer]]]] = {
    "mlp": ("scikit-learn MLP", "sklearn", fit_registered),
    "ebm": ("interpret EBM", "interpret", fit_ebm),
    "lightgbm": ("LightGBM", "lightgbm", fit_registered),
}


def run_contender(name: str, project: Path) -> Answer:
    """Fit a peer, or read the stored xNN, and judge it on the test rows."""
    from ridgeline.evaluation.metrics import EvaluationSettings, evaluate
    from ridgeline.lendingclub.modelling import model_sample
    from ridgeline.xnn.storage import load_model

    if name == XNN:
        model, answer = load_model(project / MODELS / "xnn_refined.json"), {}
    else:
        model, answer = fit_peer(name, project)
    test = model_sample(pd.read_parquet(project / SETS / "test.parquet"))
    began = time.perf_counter()
    probability = model.predict_proba(test.features)[:, 1]
    answer["predict s"] = time.perf_counter() - began
    metrics = evaluate(test.target, probability, EvaluationSettings(), SEED).metrics
    return answer | {"AUC": metrics["auc"], "log-loss": metrics["log_loss"]}


def fit_peer(name: str, project: Path) -> tuple[Any, Answer]:
    """Fit a peer on the pipeline's rows."""
    from ridgeline.lendingclub.modelling import model_sample
    from ridgeline.peak_memory import PeakMemory

    memory = PeakMemory()
    memory.start(name)  # from the loading of the rows on, as a node's
    train, held = (
        model_sample(pd.read_parquet(project / SETS / f"{part}.parquet"))
        for part in ("train", "validation")
    )
    *_, fit = PEERS[name]
    model, measured = fit(name, train, held, project)
    ended = {"peak MB": memory.stop(name), "fit ended": time.time()}
    return model, measured | ended


# --- The comparison ---


def compare(project: Path, nodes: pd.DataFrame, arguments: Any) -> bool:
    """Run every model and print the table; tell whether all of them came through."""
    report = read_json(project, "xnn_refinement_report")
    rows = read_json(project, "xnn_training_report")["rows"]
    by_node = nodes.set_index("node")
    ours = {
        "model": "Ridgeline xNN, refined",
        "fits": report["fits"],
        "tuning s": by_node["seconds"].get(TUNING_NODE, 0.0),
        "fit s": report["fit_seconds"],
        "times xNN": 1.0,
    } | by_node.loc[FIT_NODES, ["peak MB", "with workers MB"]].max().to_dict()
    answer, problem = ask(XNN, project)
    if problem:
        sys.exit(f"The xNN cannot be scored: {problem}")
    found, missing = [ours | answer], []
    for name in (one for one in PEERS if one not in arguments.skip):
        title, *_ = PEERS[name]
        print(f"{title} ...", file=sys.stderr, flush=True)
        answer, problem = ask(name, project)
        if problem:
            missing.append(f"{title} is left out: {problem}")
        else:
            ratio = answer["fit s"] / ours["fit s"]
            found.append({"model": title, **answer, "times xNN": ratio})
    print_comparison(pd.DataFrame(found), rows, missing)
    return not missing


def ask(name: str, project: Path) -> tuple[Answer, str]:
    """Run a contender in its own process; return its answer, or what went wrong."""
    package = PEERS[name][1] if name in PEERS else "ridgeline"
    if importlib.util.find_spec(package) is None:
        return {}, f"{package} is not installed; `make install-extras` does it."
    words = [sys.executable, "-W", "ignore", __file__, "--contender", name]
    began = time.time()
    run = measure([*words, "--project", str(project)], project)
    if run.status != 0:
        return {}, f"its process ended with status {run.status}; see above."
    answer: Answer = json.loads(run.printed.splitlines()[-1])
    if ended := answer.pop("fit ended", None):
        answer["with workers MB"] = max(answer["peak MB"], run.peak(began, ended))
    return answer, ""


def print_comparison(
    table: pd.DataFrame, rows: dict[str, int], missing: list[str]
) -> None:
    """Print a row for each model, and what one has to know about it."""
    say(
        f"Simulated data. Every model has the same {rows['train']:,} rows to train on, "
        f"{rows['validation']:,} to choose and stop by (MLP and EBM draw as many "
        "themselves to stop by, from both together), and is judged on the same test "
        "rows, which choose nothing. 'Fits' and 'tuning' are what its settings took to "
        "choose; the EBM has its defaults. 'Fit' is the final one, of the xNN training "
        f"and refinement; xNN and MLP have one core for it, the others {CORES}. "
        "Memory is that of the peers with tuning, of the xNN without."
    )
    show(table[list(COLUMNS)], COLUMNS)
    for sentence in missing:
        say(sentence)


def main() -> None:
    """Run the pipeline and then the models; print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scale", type=float, default=0.05, help="1 is full size")
    parser.add_argument("--folder", type=Path, help="where the raw files are kept")
    parser.add_argument(
        "--pipelines", default=PIPELINES, help="for Kedro; must train the xNN"
    )
    parser.add_argument("--skip", nargs="+", choices=PEERS, default=[], help="peers")
    parser.add_argument("--contender", choices=[XNN, *PEERS], help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not 0 < arguments.scale <= 1:
        parser.error(f"--scale must be above 0 and at most 1, not {arguments.scale}")
    if arguments.contender:
        name, project = arguments.contender, arguments.project
        print(json.dumps(run_contender(name, project)))
        return
    with tempfile.TemporaryDirectory(prefix="ridgeline-lendingclub-") as folder:
        project = Path(folder)
        copy_project(project, arguments.scale, arguments.folder)
        nodes = run_pipeline(project, arguments.pipelines)
        sys.exit(0 if compare(project, nodes, arguments) else 1)


if __name__ == "__main__":
    main()
