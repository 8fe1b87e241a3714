"""Each table and environment has its own folder."""

import pytest
from projects import PROJECT

from ridgeline import settings
from ridgeline.config_loader import run_of_a_table


def loader(env="base", **typed):
    return settings.CONFIG_LOADER_CLASS(
        str(PROJECT / "conf"),
        env=env,
        runtime_params=typed,
        **settings.CONFIG_LOADER_ARGS,
    )


def folders(configuration):
    """Folders of all files that a run may write, and the registered name."""
    catalog = configuration["catalog"]
    paths = [entry.get("filepath") or "" for entry in catalog.values()]
    found = {path.rpartition("/0")[0] for path in paths if "/0" in path}
    return found, catalog["xnn.refined"]["metadata"]["mlflow"]["register"]


@pytest.mark.parametrize(
    ("env", "typed", "tabular", "folder", "name"),
    [
        ("base", {}, False, "data", "ridgeline-lendingclub"),
        ("base", {}, True, "data/tables/example", "ridgeline-example"),
        ("smoke", {}, False, "data/smoke", "ridgeline-lendingclub"),
        ("smoke", {}, True, "data/smoke/tables/example", "ridgeline-example"),
        (
            *("smoke", {"table": "x/My Loans.csv"}, False),
            *("data/smoke/tables/my-loans", "ridgeline-my-loans"),
        ),
    ],
)
def test_a_run_writes_to_the_folder_of_its_table(env, typed, tabular, folder, name):
    with run_of_a_table(tabular):
        configuration = loader(env, **typed)
        assert folders(configuration) == ({folder}, name)
        checkpoint = configuration["parameters"]["xnn"]["training"]["checkpoint"]
        assert checkpoint == f"{folder}/06_models/.checkpoints"


def test_two_tables_one_after_the_other_do_not_mix():
    first = folders(loader(table="a.csv"))
    second = folders(loader(table="b.csv"))
    assert first == ({"data/tables/a"}, "ridgeline-a")
    assert second == ({"data/tables/b"}, "ridgeline-b")
    assert folders(loader()) == ({"data"}, "ridgeline-lendingclub")


def test_target_of_the_command_line_is_the_group_s():
    assert loader(target="y")["parameters"]["tabular"]["target"] == "y"
    assert loader()["parameters"]["tabular"]["target"] is None
