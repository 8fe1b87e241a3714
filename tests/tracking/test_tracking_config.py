"""mlflow.yml: defaults, mistakes, addresses."""

from pathlib import Path

import pytest
import yaml

from ridgeline.errors import InputError
from ridgeline.tracking import TrackingConfig, read_config

PROJECT = Path("/somewhere/project")


def test_the_shipped_file_states_every_key_with_its_default() -> None:
    shipped = Path(__file__).parents[2] / "conf/base/mlflow.yml"
    assert yaml.safe_load(shipped.read_text()) == TrackingConfig().model_dump()


def test_unknown_key_names_the_close_one() -> None:
    with pytest.raises(InputError, match=r"'stric': did you mean 'strict'\?"):
        read_config({"stric": True})


def test_unknown_key_far_from_all_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'zzz': known are enabled, strict"):
        read_config({"zzz": 1})


def test_bad_value_is_quoted_with_its_key() -> None:
    with pytest.raises(InputError, match=r"'preview_rows' is -1, but .*greater than"):
        read_config({"preview_rows": -1})


@pytest.mark.parametrize(
    ("uri", "store", "artifacts"),
    [
        (
            "sqlite:///mlflow.db",
            "sqlite:////somewhere/project/mlflow.db",
            "file:///somewhere/project/mlartifacts",
        ),
        (
            "sqlite:////other/mlflow.db",
            "sqlite:////other/mlflow.db",
            "file:///somewhere/project/mlartifacts",
        ),
        ("http://host:5000", "http://host:5000", None),
    ],
)
def test_addresses(uri: str, store: str, artifacts: str | None) -> None:
    config = read_config({"tracking_uri": uri})
    assert config.store_uri(PROJECT) == store
    assert config.artifact_root(PROJECT) == artifacts


def test_artifact_location_of_the_user() -> None:
    remote = read_config({"artifact_location": "s3://bucket/folder"})
    assert remote.artifact_root(PROJECT) == "s3://bucket/folder"
    local = read_config({"artifact_location": "store"})
    assert local.artifact_root(PROJECT) == "file:///somewhere/project/store"


def test_how_to_look_shows_the_command_but_no_password(tmp_path, monkeypatch) -> None:
    command = "DO_NOT_TRACK=true mlflow ui --backend-store-uri sqlite:///"
    monkeypatch.chdir(tmp_path)
    assert TrackingConfig().how_to_look(tmp_path) == f"{command}mlflow.db"
    assert TrackingConfig().how_to_look(PROJECT) == f"{command}{PROJECT}/mlflow.db"
    for uri in ("https://me:secret@host:5000", "postgresql://me:secret@host/db"):
        assert "secret" not in read_config({"tracking_uri": uri}).how_to_look(PROJECT)


@pytest.mark.parametrize(
    ("environment", "registers"), [("local", True), ("smoke", False), ("spark", False)]
)
def test_only_whole_runs_move_the_alias(environment: str, registers: bool) -> None:
    shipped = Path(__file__).parents[2] / f"conf/{environment}/mlflow.yml"
    values = yaml.safe_load(shipped.read_text()) if shipped.exists() else {}
    assert read_config(values).register_models is registers
