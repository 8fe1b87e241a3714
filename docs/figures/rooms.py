"""Draws the rooms of the house: `python docs/figures/rooms.py`.

Rooms and their order are the import contract of pyproject.toml, which `make lint`
holds; lines are counted. So the picture cannot say anything that the code does not do.
"""

import tomllib
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src" / "ridgeline"
# What each room is for, in a few words.
PURPOSES = {
    "__main__": "python -m ridgeline",
    "settings": "names hooks to Kedro",
    "pipeline_registry": "names pipelines",
    "session": "one run, tidily ended",
    "hooks": "checks, console",
    "project_paths": "paths from anywhere",
    "tracking": "MLflow",
    "pipelines": "nodes and wiring",
    "datasets": "files for Kedro",
    "simulation": "the paper's study and its report",
    "lendingclub": "the published files and their report",
    "baselines": "methods compared with",
    "evaluation": "metrics",
    "reporting": "page, tables, findings",
    "command": "ridgeline score, explain, ...",
    "decisions": "policy, reasons, drift",
    "xnn": "the model: fit, explain, store, score",
    "preparation": "raw rows to columns",
}


def layers() -> list[list[str]]:
    """Return the rooms by layer, the highest first."""
    content = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    contract = content["tool"]["importlinter"]["contracts"][0]
    return [
        [part.strip().removeprefix("ridgeline.") for part in layer.split("|")]
        for layer in contract["layers"]
    ]


def lines(room: str) -> int:
    """Return how many lines of Python a room has."""
    files = [PACKAGE / f"{room}.py", *(PACKAGE / room).rglob("*.py")]
    return sum(len(f.read_text().splitlines()) for f in files if f.exists())


def main() -> None:
    """Draws a box for each room; whoever stands higher may import what is below."""
    found = layers()
    figure = Figure(figsize=(8.4, 0.62 * len(found) + 0.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(-0.3, len(found)))
    axes.set_axis_off()
    for place, rooms in enumerate(found):
        height = len(found) - 1 - place
        width = 1 / len(rooms)
        for number, room in enumerate(rooms):
            box = FancyBboxPatch(
                (number * width + 0.008, height + 0.12),
                width - 0.016,
                0.7,
                boxstyle="round,pad=0,rounding_size=0.02",
                mutation_aspect=len(found) / 1.4,
                facecolor="#BFD0E4" if room == "xnn" else "#EEF2F7",
                edgecolor="#004488",
                linewidth=0.8,
            )
            axes.add_patch(box)
            middle = (number + 0.5) * width
            # Many rooms side by side have room for a word on each line.
            name, below = f"{room}  {lines(room):,}", PURPOSES.get(room, "")
            if len(rooms) > 4:
                name, below = room, f"{lines(room):,}"
            for up, text, look in (
                (0.58, name, {"fontsize": 8, "weight": "bold"}),
                (0.31, below, {"fontsize": 6.5}),
            ):
                if len(rooms) > 4:
                    look["fontsize"] = 6
                axes.text(middle, height + up, text, ha="center", va="center", **look)
    axes.text(
        0.5,
        -0.2,
        "A room imports only what is below it; the number is its lines of Python.",
        ha="center",
        fontsize=7,
    )
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
