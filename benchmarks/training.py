"""Training and prediction: beside a plain Keras model, and scikit-learn's network.

    python benchmarks/training.py                  # every section, about half an hour
    python benchmarks/training.py step predict     # some of step, grid, growth,
                                                   # compile, predict
    python benchmarks/training.py --quick          # small sizes, to see that it runs

Every contender runs in a process of its own; those that are said to run side by side
start to measure at the same moment. Ratios mean more than seconds: they come from one
run on one machine and the same data. The Keras model is in `keras_xnn.py`, what each
process does in `training_tasks.py`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from training_tasks import BATCH, CORES, HIDDEN, JET_ROWS, ROWS, Answer, K, P


def run(task: str, processes: int = 1, **settings: Any) -> list[Answer]:
    """Run a task in so many processes at once; return what each measured."""
    script = Path(__file__).with_name("training_tasks.py")
    words = [sys.executable, "-W", "ignore", str(script), task, json.dumps(settings)]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile("w+") as said:
        began = time.time()
        children = [
            subprocess.Popen(
                words,
                stdin=pipe,
                stdout=pipe,
                stderr=said,
                text=True,
            )
            for _ in range(processes)
        ]
        lines = [child.stdout.readline() for child in children]
        for child, line in zip(children, lines, strict=True):
            if line == "ready\n":
                child.stdin.write("go\n")
                child.stdin.flush()
        lines = [
            child.stdout.readline() if line == "ready\n" else line
            for child, line in zip(children, lines, strict=True)
        ]
        statuses = [child.wait() for child in children]
        if any(statuses):
            said.seek(0)
            sys.exit(f"{task} failed:\n{said.read()}")
    return [json.loads(line) | {"began": began} for line in lines]


def section_step(quick: bool) -> None:
    """One optimiser step, beside the Keras model and beside the arithmetic."""
    seconds = 2.0 if quick else 10.0
    contenders = {
        "Keras": run("step_keras", seconds=seconds, threads=0),
        f"Keras, {CORES} processes": run(
            "step_keras", CORES, seconds=seconds, threads=0
        ),
        f"Keras, {CORES} processes, 1 thread each": run(
            "step_keras", CORES, seconds=seconds, threads=1
        ),
        "Ridgeline": run("step_ridgeline", seconds=seconds),
        f"Ridgeline, {CORES} processes": run("step_ridgeline", CORES, seconds=seconds),
    }
    say(
        f"A step of {BATCH:,} rows, p = {P}, k = {K}, hidden {HIDDEN}, {CORES} cores. "
        "Ridgeline has one thread, and takes the roughness of the first "
        f"{JET_ROWS} rows; Keras has the threads that TensorFlow chooses, and takes it "
        "of all rows, as the paper does. 'Evaluated' adds a step's share of what ends "
        "an epoch: the moments of all training rows and the validation loss. Rates are "
        "those of all processes together."
    )
    table = pd.DataFrame(
        [
            {
                "contender": name,
                "step ms": 1e3 * statistics.mean(one["step"] for one in answers),
                "steps/s": sum(1 / one["step"] for one in answers),
                "evaluated ms": 1e3 * statistics.mean(a["in_epoch"] for a in answers),
                "evaluated/s": sum(1 / one["in_epoch"] for one in answers),
            }
            for name, answers in contenders.items()
        ]
    )
    show(table, {"step ms": ".2f", "evaluated ms": ".2f"}, ",.0f")
    keras = table[table["contender"].str.startswith("Keras")].max(numeric_only=True)
    ours = table.iloc[-1]
    say(
        f"With {CORES} processes Ridgeline makes "
        f"{ours['steps/s'] / keras['steps/s']:.1f} times as many steps a second as the "
        "best Keras run (the aim is 8), and with evaluations "
        f"{ours['evaluated/s'] / keras['evaluated/s']:.1f} times."
    )
    _show_floor(ours["step ms"], run("matmul", CORES, seconds=seconds / 4))


def _show_floor(step: float, products: list[Answer]) -> None:
    rate = statistics.mean(one["flops"] for one in products)
    table = pd.DataFrame(count_flops().items(), columns=["work", "MFLOP"])
    table.loc[len(table)] = "all", table["MFLOP"].sum()
    table["ms"] = 1e9 * table["MFLOP"] / rate
    show(table, {"MFLOP": ".2f"}, ".3f")
    say(
        f"At the {rate / 1e9:.0f} GFLOP/s that a core reaches in float32 products of "
        f"512 x 512, a step of {step:.2f} ms takes {step / table['ms'].iloc[-1]:.1f} "
        f"times as long as its arithmetic, and {step / table['ms'].iloc[0]:.1f} times "
        "as long as its products alone."
    )


def count_flops() -> dict[str, float]:
    """Count the millions of operations in a step, forward and backward.

    A multiplication and an addition count as two. A product costs as much again for
    the gradient of each factor; the data need none. Where rows carry second
    derivatives, the first layer's derivatives are constants, hidden layers have three
    products, the output layer two. Element by element a hidden unit has about 5
    operations for a value and 29 with its derivatives, beside the tanh, which XLA
    computes as a ratio of polynomials in about 24.
    """
    sizes = (1, *HIDDEN, 1)
    products = [2 * a * b for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
    jets = products[0] + 3 * sum(products[1:-1]) + 2 * products[-1]
    units, plain_rows = K * sum(HIDDEN), BATCH - JET_ROWS
    rows = JET_ROWS * jets + plain_rows * sum(products)
    return {
        "products": (3 * K * rows + 2 * BATCH * 2 * P * K) / 1e6,
        "element by element": units * (29 * JET_ROWS + 5 * plain_rows) / 1e6,
        "tanh": 24 * units * BATCH / 1e6,
    }


def section_grid(quick: bool) -> None:
    """The paper's whole grid, beside one fit of the Keras model."""
    points, epochs = (2, 30) if quick else (5, 10_000)
    (ours,) = run("grid_ridgeline", settings=_settings(quick), points=points)
    (keras,) = run("grid_keras", max_epochs=epochs)
    table = pd.DataFrame([ours, keras])
    table.insert(0, "contender", ["Ridgeline, grid", "Keras, to its early stop"])
    table.insert(1, "seconds", table["finished"] - table["began"])
    table = table.drop(columns=["finished", "began"])
    counts = ", ".join(f"{count:,} {name} rows" for name, count in ROWS.items())
    say(f"S1, {counts}, {CORES} cores; start of processes and compilation included.")
    show(table, {"seconds": ".1f", "epochs": ","}, ".4f")
    seconds, excess = (
        table[name].iloc[0] / table[name].iloc[1]
        for name in ("seconds", "excess error")
    )
    say(
        f"All {ours['fits']} fits together take {seconds:.2f} times as long as one fit "
        f"of Keras (the aim is below 0.5), with {excess:.2f} times its excess error "
        "(below 1)."
    )


def section_growth(quick: bool) -> None:
    """How time grows with rows, features and subnetworks; memory of many rows."""
    steps = 200 if quick else 2_000
    rows = [10**4, 10**5] if quick else [10**4, 10**5, 10**6, 3 * 10**6]
    features = [5, 200] if quick else [5, 10, 20, 50, 100, 200]
    subnetworks = [1, 20] if quick else [1, 2, 5, 10, 20]
    say(
        "A fit trains on 80 % of n rows and validates on 20 %; E is the default "
        "number of epochs. What a default fit takes is computed, from the time of an "
        "epoch and of what a fit does besides (not compiling): 'trained' in E epochs, "
        "'refined' in those of the refinement too."
    )
    for title, symbol, sizes in (
        ("rows", "n", [(n, P, K) for n in rows]),
        ("features", "p", [(10_000, p, min(p, K)) for p in features]),
        ("subnetworks", "k", [(10_000, 20, k) for k in subnetworks]),
    ):
        table = pd.DataFrame([_growth_row(*size, steps) for size in sizes])
        show(table, {"n": ",", "epoch s": ".3f", "ms/1,000 rows": ".3f"}, ".1f")
        cost, size = table["ms/1,000 rows"], table[symbol]
        say(
            f"An epoch's time per row at {size.iloc[-1]:,} {title} is "
            f"{cost.iloc[-1] / cost.iloc[0]:.2f} times that at {size.iloc[0]:,}."
        )
    _show_memory(100_000 if quick else 3_000_000)


def _growth_row(n: int, p: int, k: int, steps: int) -> Answer:
    (one,) = run("growth", n=n, p=p, k=k, steps=steps)
    trained = one["besides"] + one["epochs"] * one["epoch"]
    return {
        "n": n,
        "p": p,
        "k": k,
        "epoch s": one["epoch"],
        "ms/1,000 rows": 1e6 * one["epoch"] / n,
        "besides s": one["besides"],
        "compile s": one["compile"],
        "E": one["epochs"],
        "trained s": trained,
        "refined s": trained + one["refine_epochs"] * one["epoch"],
    }


def _show_memory(n: int) -> None:
    peaks = []
    for count in (10_000, n):
        with tempfile.TemporaryDirectory(prefix="ridgeline-rows-") as folder:
            run("write_rows", n=count, folder=folder)
            peaks += run("memory", folder=folder)
    table = pd.DataFrame(peaks).drop(columns="began")
    table.insert(0, "peak MB", [f"{count:,} rows" for count in (10_000, n)])
    show(table, {}, ",.0f")
    few, many = peaks
    say(
        f"A fit of {n:,} rows x {P} features peaks at {many['fitted'] / 1e3:.2f} GB "
        f"(the aim is below 2): {many['TensorFlow']:,.0f} MB are the bare import of "
        f"TensorFlow, {few['fitted'] - few['TensorFlow']:,.0f} MB what any fit needs, "
        f"and {many['input']:,.0f} MB the input."
    )


def section_compile(quick: bool) -> None:
    """What a shape costs once: the first fit beside those that follow."""
    (answer,) = run("compile_once", settings=_settings(quick))
    table = pd.DataFrame(
        [(name, *measured) for name, measured in answer["fits"].items()],
        columns=["one after the other", "seconds", "again", "programs traced"],
    )
    table.insert(3, "compiling", table["seconds"] - table["again"])
    say(
        "Fits in one process, each of them twice: what the second time saves is "
        "compilation. XLA may compile anew without a new trace. The import of "
        f"TensorFlow before them took {answer['import']:.1f} s."
    )
    show(table, {}, ".2f")
    first, second = table["seconds"].iloc[:2]
    say(
        f"The first fit takes {first / second:.1f} times as long as the next one with "
        f"other penalties, {first - second:.1f} s more; data of 50 rows less cost "
        f"{table['compiling'].iloc[-2]:.1f} s of compilation."
    )


def section_predict(quick: bool) -> None:
    """Predictions of a million rows, beside scikit-learn's network."""
    n, repetitions = (100_000, 3) if quick else (1_000_000, 7)
    (answer,) = run("predict", n=n, repetitions=repetitions, settings=_settings(quick))
    table = pd.DataFrame(
        [(name, used, seconds) for name, (seconds, used) in answer["models"].items()],
        columns=["model", "components", "seconds"],
    )
    table["rows/s"] = n / table["seconds"]
    for row, name in enumerate(("relu", "tanh")):
        table[f"times {name}"] = table["seconds"].iloc[row] / table["seconds"]
    say(f"{n:,} rows of S1, best of {repetitions}, {CORES} cores, double precision.")
    show(table, {"seconds": ".3f", "rows/s": ",.0f"}, ".1f")
    (relu_full, tanh_full), (relu, tanh) = table.iloc[-2:, -2:].to_numpy()
    say(
        f"The pruned model predicts {relu:.1f} times as fast as relu units (the aim is "
        f"3) and {tanh:.1f} times as fast as tanh units, all {K} components "
        f"{relu_full:.1f} and {tanh_full:.1f} times."
    )


def _settings(quick: bool) -> Answer:
    """Return what a quick run sets in the estimator."""
    return {"max_epochs": 30, "refine_epochs": 10} if quick else {}


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, 88), end="\n\n", flush=True)


def show(table: pd.DataFrame, formats: dict[str, str], others: str = "") -> None:
    """Print a table; `others` is the format of the floats that `formats` leaves out."""
    floats = dict.fromkeys(table.select_dtypes("float").columns, others)
    text = pd.DataFrame(
        {
            name: [format(value, (floats | formats).get(name, "")) for value in column]
            for name, column in table.items()
        }
    )
    if not pd.api.types.is_numeric_dtype(table.iloc[:, 0]):
        name = text.columns[0]
        width = max(map(len, [name, *text[name]]))
        text[name] = text[name].str.ljust(width)
        text = text.rename(columns={name: name.ljust(width)})
    print(text.to_string(index=False), end="\n\n", flush=True)


SECTIONS: dict[str, Callable[[bool], None]] = {
    "step": section_step,
    "grid": section_grid,
    "growth": section_growth,
    "compile": section_compile,
    "predict": section_predict,
}


def main() -> None:
    """Run the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "sections", nargs="*", help=f"some of: {' '.join(SECTIONS)}; by default all"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"{sorted(unknown)} must be some of {list(SECTIONS)}")
    for name in arguments.sections or SECTIONS:
        print(f"=== {name} ===\n", flush=True)
        SECTIONS[name](arguments.quick)


if __name__ == "__main__":
    main()
