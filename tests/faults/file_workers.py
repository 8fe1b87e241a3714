"""What the tests of files do in processes of their own: python file_workers.py WORK ...

Without more, works are read as JSON, each with its words and the file for what it says,
and their exit codes are printed. Modules are imported once; the processes that work
side by side are forked from there.
"""

import io
import json
import multiprocessing
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import ibis
import pandas as pd

from ridgeline.datasets import (
    AtomicCsvDataset,
    AtomicJsonDataset,
    AtomicTextDataset,
    ParquetFrameDataset,
    SimulatedCsvDataset,
    XnnModelDataset,
)

ROUNDS = 10
ROWS = 300
DUCKDB = {"backend": "duckdb", "database": ":memory:", "threads": 1}


def figure_of(marker):
    """A picture of one colour, which tells the marker."""
    from matplotlib.figure import Figure

    return Figure(figsize=(0.4, 0.4), facecolor=(marker / 256, 0.5, 0.5))


def datasets(folder):
    """A dataset of every kind, by its name."""
    from ridgeline.datasets.figure import FigureDataset

    return {
        "csv": AtomicCsvDataset(filepath=f"{folder}/table.csv"),
        "json": AtomicJsonDataset(filepath=f"{folder}/numbers.json"),
        "text": AtomicTextDataset(filepath=f"{folder}/page.html"),
        "figure": FigureDataset(filepath=f"{folder}/plot.png"),
        "model": XnnModelDataset(filepath=f"{folder}/model.json"),
        "parquet": ParquetFrameDataset(
            filepath=f"{folder}/rows.parquet", connection=DUCKDB
        ),
    }


def contents(marker, network):
    """What each dataset is saved with: one marker, many times."""
    rows = pd.DataFrame({"marker": [marker] * ROWS})
    return {
        "csv": rows,
        "json": {"marker": [marker] * ROWS},
        "text": f"{marker} " * ROWS,
        "figure": figure_of(marker),
        "model": replace(network, intercept=float(marker)),
        "parquet": ibis.memtable(rows),
    }


def markers(name, data):
    """The markers of what was read, all of them and how often."""
    if name == "model":
        return [data.intercept] * ROWS
    if name == "figure":
        from matplotlib.image import imread

        pixels = imread(io.BytesIO(data))[..., 0]
        return [pixels.min()] * ROWS if pixels.min() == pixels.max() else []
    if name == "text":
        return data.split()
    return list(data["marker"])


def save_again_and_again(folder, number, network, rounds=ROUNDS):
    there = datasets(folder)
    for turn in range(rounds):
        found = contents(10 * turn + number, network)
        for name, dataset in there.items():
            dataset.save(found[name])


def read_again_and_again(folder, ended):
    there = datasets(folder)
    while not ended.is_set():
        for name, dataset in there.items():
            seen = markers(name, dataset.load())
            if len(seen) != ROWS or len(set(seen)) != 1:
                sys.exit(f"{name}: {len(seen)} markers, {set(seen)}")


def stress(folder, model):
    """Several processes save the same datasets while others read them."""
    network = XnnModelDataset(filepath=model).load()
    save_again_and_again(folder, 9, network, rounds=1)  # something to read
    for connection in ParquetFrameDataset._connections.values():
        connection.disconnect()  # forked processes open their own
    ParquetFrameDataset._connections.clear()
    ended = fork.Event()
    writers = [started(save_again_and_again, folder, n, network) for n in range(3)]
    readers = [started(read_again_and_again, folder, ended) for _ in range(2)]
    codes = joined(writers)
    ended.set()
    if any(codes + joined(readers)):
        sys.exit(1)


def simulate(folder):
    """Several processes need the same simulated file at once."""
    together = fork.Barrier(4)
    if any(joined([started(simulate_one, folder, together) for _ in range(4)])):
        sys.exit(1)


def simulate_one(folder, together):
    dataset = SimulatedCsvDataset(path=folder, kind="accepted", rows=2_000, seed=1)
    write = dataset._simulate
    dataset._simulate = lambda path: (say("simulated"), write(path))
    together.wait()
    say(dataset.fingerprint())


def spill(folder):
    """Several processes say where their engine puts what does not fit in memory."""
    if any(joined([started(say_spill, folder) for _ in range(3)])):
        sys.exit(1)
    say_spill(folder)  # the next run, which removes what those have left


def say_spill(folder):
    engine = DUCKDB | {"temp_directory": f"{folder}/spill"}
    table = ParquetFrameDataset(filepath=f"{folder}/any.parquet", connection=engine)
    setting = table.connection.raw_sql("SELECT current_setting('temp_directory')")
    say(setting.fetchone()[0])


def stop_in_a_save(path, how):
    """Stop in the middle of a save: until told to go on, or for ever."""

    def stop(_):
        say("half")
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        sys.stdin.readline()
        return "the slow one"

    AtomicJsonDataset(filepath=path, save_args={"default": stop}).save(
        {"first": 1, "second": object()}
    )


def die_before_the_rename(path):
    """Die when all is written but under its own name."""
    from ridgeline.files import replace_file

    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    replace_file(Path(path), b"half a file")


def write_texts(folder):
    """Write and read what no other encoding than UTF-8 has."""
    text = "20 € – «half», Ελλάδα"
    for dataset, data in (
        (AtomicTextDataset(filepath=f"{folder}/page.html"), text),
        (
            AtomicJsonDataset(
                filepath=f"{folder}/words.json", save_args={"ensure_ascii": False}
            ),
            {"word": text},
        ),
        (AtomicCsvDataset(filepath=f"{folder}/words.csv"), pd.DataFrame({text: [1]})),
    ):
        dataset.save(data)
        again = dataset.load()
        same = again.equals(data) if isinstance(data, pd.DataFrame) else again == data
        if not same:
            sys.exit(f"{dataset}: {again!r}")


def work_in_turn():
    """Do works one after the other, each in a process forked for it."""
    codes = [
        joined([started(work_alone, *one)])[0] for one in json.loads(sys.stdin.read())
    ]
    say(json.dumps(codes))


def work_alone(name, words, said):
    with Path(said).open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    works()[name](*words)


def works():
    found = (stress, simulate, spill, stop_in_a_save, die_before_the_rename)
    return {work.__name__: work for work in (*found, write_texts)}


def started(work, *arguments):
    process = fork.Process(target=work, args=arguments)
    process.start()
    return process


def joined(processes):
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    if sys.argv[1:]:
        works()[sys.argv[1]](*sys.argv[2:])
    else:
        work_in_turn()
