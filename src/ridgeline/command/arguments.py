"""What the command takes, and its help."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ridgeline import __version__

__all__ = ["parse"]

_MODEL = "a model file, a folder that holds one, or models:/NAME@ALIAS of MLflow"
_FILE = "the rows: a CSV or Parquet file"
_EXAMPLES = """
examples:
  ridgeline fit loans.csv --target repaid -o model.json
  ridgeline describe model.json
  ridgeline score model.json applications.csv -o decisions.csv
  ridgeline explain model.json applications.csv --row 12
  ridgeline what-if model.json applications.csv --row 12
  ridgeline drift model.json applications.csv -o drift.html
"""


class _Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}; see '{self.prog} --help'.\n")
        raise SystemExit(2)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Arguments with `run`, the function that does what is asked for."""
    parser = _Parser(
        prog="ridgeline",
        description="Score tables with a stored model, with reasons for decisions.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (_score, _explain, _describe, _what_if, _drift, _fit):
        add(commands)
    return parser.parse_args(arguments)


def _command(
    commands: Any, name: str, run: str, says: str, *examples: str
) -> argparse.ArgumentParser:
    """A command, whose module is imported when it runs."""
    lines = "".join(f"  ridgeline {name} {example}\n" for example in examples)
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=says,
        description=says[0].upper() + says[1:] + ".",
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=_late(run))
    return parser


def _late(run: str) -> Callable[[argparse.Namespace], Any]:
    def call(arguments: argparse.Namespace) -> Any:
        from importlib import import_module

        module, _, function = run.partition(":")
        home = import_module(f"ridgeline.command.{module}")
        return getattr(home, function)(arguments)

    return call


def _with_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="JSON with the cut-off, the reference, words and points "
        "(ridgeline describe MODEL --policy-template prints one)",
    )
    parser.add_argument(
        "--cutoff", type=float, help="the cut-off, in place of the policy's"
    )
    parser.add_argument(
        "--reference",
        choices=("approved", "cutoff", "best"),
        help="what declined rows are compared with, in place of the policy's",
    )


def _with_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("file", metavar="FILE", help=_FILE)
    parser.add_argument(
        "--chunk-rows", type=_positive, default=50_000, help=argparse.SUPPRESS
    )


def _with_row(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--row",
        type=_positive,
        default=1,
        metavar="N",
        help="which row, the first of the table is 1 (default)",
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def _score(commands: Any) -> None:
    parser = _command(
        commands,
        "score",
        "scoring:score",
        "score every row of a table, with reasons for those that are declined",
        "model.json applications.csv > decisions.csv",
        "model.json applications.parquet -o decisions.parquet --cutoff 0.3",
        "models:/credit@champion applications.csv -o out.jsonl --policy policy.json",
    )
    _with_table(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="a file that ends in .csv, .parquet or .jsonl; rows that cannot be scored "
        "go to OUT.refused.csv (default: CSV to the terminal)",
    )
    parser.add_argument(
        "--keep",
        metavar="COLUMN",
        nargs="+",
        default=[],
        help="columns of the table to copy, such as an identifier",
    )
    _with_policy(parser)


def _explain(commands: Any) -> None:
    parser = _command(
        commands,
        "explain",
        "one_row:explain",
        "explain the decision about one row, feature by feature",
        "model.json applications.csv --row 12",
    )
    _with_table(parser)
    _with_row(parser)
    _with_policy(parser)


def _what_if(commands: Any) -> None:
    parser = _command(
        commands,
        "what-if",
        "one_row:what_if",
        "find the smallest change in each feature alone that changes the decision",
        "model.json applications.csv --row 12 --policy policy.json",
    )
    _with_table(parser)
    _with_row(parser)
    _with_policy(parser)


def _describe(commands: Any) -> None:
    parser = _command(
        commands,
        "describe",
        "describing:describe",
        "say what a model is: its columns, what counts, what may not be read from it",
        "model.json",
        "model.json --policy-template > policy.json",
    )
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument(
        "--policy-template",
        action="store_true",
        help="print a policy for this model, to edit",
    )


def _drift(commands: Any) -> None:
    parser = _command(
        commands,
        "drift",
        "scoring:drift",
        "compare a table with the training rows that the model remembers",
        "model.json applications.csv",
        "model.json applications.csv -o drift.html",
    )
    _with_table(parser)
    parser.add_argument(
        "-o", "--output", metavar="PAGE", help="an HTML page with table and figure"
    )


def _fit(commands: Any) -> None:
    parser = _command(
        commands,
        "fit",
        "fitting:fit",
        "fit a model to a table and write a report (needs ridgeline[train])",
        "loans.csv --target repaid -o model.json",
        "loans.csv --target repaid -o model.json --drop id issued --seconds 300",
    )
    parser.add_argument(
        "file", metavar="FILE", help="the training rows: CSV or Parquet"
    )
    parser.add_argument(
        "--target", required=True, metavar="COLUMN", help="the column to predict"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the model file to write"
    )
    parser.add_argument(
        "--report",
        metavar="PAGE",
        help="the report to write (default: MODEL with the ending .html)",
    )
    parser.add_argument(
        "--drop", nargs="+", default=[], metavar="COLUMN", help="columns to leave out"
    )
    parser.add_argument(
        "--categorical",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns of numbers that are codes of categories",
    )
    parser.add_argument("--weight", metavar="COLUMN", help="the weight of each row")
    parser.add_argument(
        "--candidates", type=_positive, default=32, metavar="N", help="fits to try (32)"
    )
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="begin no further fit after this"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")  # noqa: EM102
    return number
