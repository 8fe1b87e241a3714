"""Files stay whole, private and readable whatever happens around a save."""

import csv
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from file_workers import contents, datasets
from kedro.config import OmegaConfigLoader
from kedro.io import DataCatalog, DatasetError
from projects import PROJECT

from ridgeline import settings
from ridgeline.datasets import AtomicCsvDataset, AtomicJsonDataset, XnnModelDataset
from ridgeline.files import replace_file, replacing

WORKERS = Path(__file__).with_name("file_workers.py")


def work(*arguments, **options):
    """Let a process of its own work, and wait for it."""
    return subprocess.run(
        [sys.executable, WORKERS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def worked(tmp_path_factory, known_network):
    """Return the folder of each work that was done, its exit code and what it said."""
    root = tmp_path_factory.mktemp("worked")
    model = root / "model.json"
    XnnModelDataset(filepath=str(model)).save(known_network)
    stress, simulate, killed = (root / name for name in ("a", "b", "c"))
    for folder in (simulate, killed):
        folder.mkdir()
    works = {
        "stress": (stress, [stress, model]),
        "simulate": (simulate, [simulate]),
        "stop_in_a_save": (killed, [killed / "file.json", "killed"]),
        "die_before_the_rename": (killed, [killed / "file.json"]),
    }
    asked = [
        (name, [str(word) for word in words], f"{root}/{name}.txt")
        for name, (_, words) in works.items()
    ]
    done = work(input=json.dumps(asked))
    assert done.returncode == 0, done.stderr
    return {
        name: (works[name][0], code, Path(said).read_text())
        for (name, _, said), code in zip(asked, json.loads(done.stdout), strict=True)
    }


def test_overlapping_runs_save_and_read_whole_files_only(worked):
    folder, code, said = worked["stress"]
    assert code == 0, said
    files = [Path(one._filepath).name for one in datasets(folder).values()]
    assert names(folder) == sorted(files)


def test_every_process_spills_into_a_folder_of_its_own(tmp_path):
    # DuckDB names its files alike everywhere: in one folder, two processes crash.
    done = work("spill", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folders = [Path(line) for line in done.stdout.split()]
    assert len(set(folders)) == 4
    assert {folder.parent for folder in folders} == {tmp_path / "spill"}
    assert names(tmp_path / "spill") == []


def test_simulated_file_is_made_once_by_runs_that_start_together(worked):
    folder, code, text = worked["simulate"]
    assert code == 0, text
    said = text.split()
    assert said.count("simulated") == 1
    assert len(said) == 5
    assert len(set(said)) == 2  # of all four the same fingerprint
    assert len(list(folder.glob("*.csv"))) == 1


def test_private_files_stay_private_and_new_ones_are_as_any(tmp_path, known_network):
    there = datasets(tmp_path)
    data = contents(1, known_network)
    before = os.umask(0o027)
    try:
        for name, dataset in there.items():
            path = Path(dataset._filepath)
            dataset.save(data[name])
            assert stat.S_IMODE(path.stat().st_mode) == 0o640, name
            path.chmod(0o600)
            dataset.save(data[name])
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, name
    finally:
        os.umask(before)


def test_links_are_written_through(tmp_path, known_network):
    there = datasets(tmp_path)
    data = contents(1, known_network)
    for name, dataset in there.items():
        path, target = Path(dataset._filepath), tmp_path / "elsewhere" / name
        target.parent.mkdir(exist_ok=True)
        path.symlink_to(target)
        dataset.save(data[name])
        assert path.is_symlink(), name
        assert target.is_file(), name


def test_what_a_killed_save_left_is_removed_by_the_next(worked):
    folder, *_ = worked["stop_in_a_save"]
    for name in ("stop_in_a_save", "die_before_the_rename"):
        assert worked[name][1] == -9
    path = folder / "file.json"
    assert names(folder) != []
    assert not path.exists()
    replace_file(path, b"{}")
    assert names(folder) == ["file.json"]


def test_save_of_another_run_is_not_disturbed(tmp_path):
    path = tmp_path / "file.json"
    slow = subprocess.Popen(
        [sys.executable, WORKERS, "stop_in_a_save", path, "waiting"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert slow.stdout.readline() == "half\n"
    quick = AtomicJsonDataset(filepath=str(path))
    quick.save({"first": "the quick one"})
    assert quick.load() == {"first": "the quick one"}
    _, said = slow.communicate("go on\n")
    assert slow.returncode == 0, said
    assert quick.load() == {"first": 1, "second": "the slow one"}
    assert names(tmp_path) == ["file.json"]


def test_file_does_not_replace_a_folder(tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "file").write_text("content")
    with pytest.raises(OSError, match="directory"):
        replace_file(folder, b"new")
    assert (folder / "file").read_text() == "content"
    assert names(tmp_path) == ["precious"]


def test_folder_replaces_a_folder_or_a_file(tmp_path):
    target = tmp_path / "rows.parquet"
    target.write_text("of another engine")
    for turn in ("one", "two"):
        with replacing(target) as part:
            part.mkdir()
            (part / turn).write_text(turn)
        assert names(target) == [turn]
    assert names(tmp_path) == ["rows.parquet"]


@pytest.mark.parametrize("name", ["../../x", "..", "a/../../x", "/x", ".hidden", "a/b"])
def test_partition_stays_in_its_folder_and_the_former_ones_stay(
    tmp_path, known_network, name
):
    loader = OmegaConfigLoader(
        str(PROJECT / "conf"), env="base", **settings.CONFIG_LOADER_ARGS
    )
    entry = loader["catalog"]["study_networks"] | {"path": str(tmp_path / "a" / "b")}
    catalog = DataCatalog.from_config({"networks": entry})
    catalog.save("networks", {"S1_xnn": known_network, "S2_xnn": known_network})
    with pytest.raises(DatasetError) as failure:
        catalog.save("networks", {"S1_xnn": known_network, name: known_network})
    assert sorted(catalog.load("networks")) == ["S1_xnn", "S2_xnn"]
    assert "without slashes and leading dots" in str(failure.value)
    catalog.save("networks", {"S2_xnn": known_network})
    assert sorted(catalog.load("networks")) == ["S2_xnn"]
    assert [path.name for path in tmp_path.rglob("*.*")] == ["S2_xnn.json"]


def test_text_is_utf8_in_every_locale(tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = work("write_texts", tmp_path, env=os.environ | plain)
    assert done.returncode == 0, done.stderr
    for path in tmp_path.iterdir():
        assert "Ελλάδα" in path.read_text(encoding="utf-8")


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    path = tmp_path / "audit.csv"
    table = pd.DataFrame(
        {
            "examples": ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1", "-2", "\t=1", "plain"],
            "removed": [-1.5, 2, 3, -4, 5, float("nan")],
            "=header": pd.Categorical(["-a", "b", "b", "b", "b", "b"]),
            "day": pd.Timestamp("2018-01-31"),
        }
    )
    kept = table.copy(deep=True)
    dataset = AtomicCsvDataset(filepath=str(path))
    dataset.save(table)
    pd.testing.assert_frame_equal(table, kept)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    numbers = {"-1.5", "-4.0"}
    assert numbers < set(cells)
    texts = set(cells) - numbers
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in texts)
    assert "2018-01-31" in texts
    # Whoever reads the table in a later node sees none of it.
    again = dataset.load()
    assert list(again.columns) == list(table.columns)
    for name in ("examples", "removed", "=header"):
        assert again[name].dropna().to_list() == table[name].dropna().to_list()


def test_json_that_cannot_be_written_leaves_the_former_file(tmp_path):
    path = tmp_path / "file.json"
    dataset = AtomicJsonDataset(filepath=str(path))
    dataset.save({"a": 1})
    with pytest.raises(DatasetError):
        dataset.save({"a": 2, "b": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert names(tmp_path) == ["file.json"]
