"""Ingestion and cleaning against plain chunked pandas, on the same files.

    python benchmarks/ingestion.py                  # a tenth of LendingClub's size
    python benchmarks/ingestion.py --scale 1        # full: 2.26 million x 151 columns
                                                    # and 27.6 million x 9
    python benchmarks/ingestion.py --folder FOLDER  # keep and reuse the files there

Each contender runs in a process of its own, one after the other, and its peak memory
is that of the process. Both have to keep the same number of rows, or the benchmark
fails. Ratios mean more than seconds: they come from one run on one machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import yaml

FULL_ROWS = {"accepted": 2_260_668, "rejected": 27_648_741}
SEED = 0
PROJECT = Path(__file__).parents[1]
Counts = dict[str, int]


def ridgeline_cleaning(files: dict[str, Path], out: Path) -> Counts:
    """Do what pandas does below: type, filter, count, write the clean rows."""
    from ridgeline.lendingclub.auditing import audit_cleaning
    from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications

    connection, typed, malformed, lines = _ingest(files, out)
    rules = CleaningRules()
    audit = audit_cleaning(typed, malformed, lines, rules)
    connection.to_parquet(clean_applications(typed, rules), out / "clean.parquet")
    return _kept(audit)


def ridgeline_pipeline(files: dict[str, Path], out: Path) -> Counts:
    """Do all that the pipeline `data` does: also validate twice, and split."""
    from ridgeline.lendingclub.auditing import audit_cleaning
    from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
    from ridgeline.lendingclub.splitting import SplitShares, split_applications
    from ridgeline.lendingclub.validation import (
        validate_clean,
        validate_lines,
        validate_typed,
    )

    connection, typed, malformed, lines = _ingest(files, out)
    rules = CleaningRules()
    validate_lines(typed, malformed, lines)
    validate_typed(typed)
    audit = audit_cleaning(typed, malformed, lines, rules)
    connection.to_parquet(clean_applications(typed, rules), out / "clean.parquet")
    clean = connection.read_parquet(out / "clean.parquet")
    validate_clean(clean, rules)
    for name, rows in split_applications(clean, SplitShares(), SEED).items():
        connection.to_parquet(rows, out / f"{name}.parquet")
    return _kept(audit)


def _ingest(files: dict[str, Path], out: Path):
    import ibis

    from ridgeline.lendingclub.line_counting import LineCount
    from ridgeline.lendingclub.reading import find_files, read_published
    from ridgeline.pipelines.data.nodes import type_applications

    settings = yaml.safe_load((PROJECT / "conf/base/globals.yml").read_text())
    arguments = settings["connection"] | {"temp_directory": str(out / "spill")}
    connection = getattr(ibis, arguments.pop("backend")).connect(**arguments)
    tables = [
        read_published(connection, find_files(str(path), kind), kind)
        for kind, path in files.items()
    ]
    typed, malformed, counts = type_applications(*tables)
    connection.to_parquet(typed, out / "typed.parquet")
    typed = connection.read_parquet(out / "typed.parquet")
    lines = {name: LineCount(**count) for name, count in counts.items()}
    return connection, typed, malformed, lines


def _kept(audit: pd.DataFrame) -> Counts:
    steps = audit[audit.step == "outside_window"]
    return dict(zip(steps["class"], steps.kept.astype(int), strict=True))


def pandas_chunks(files: dict[str, Path], out: Path) -> Counts:
    """Give the same typed table, audit and clean table chunk by chunk, in pandas."""
    return _pandas(files, out, with_typed_table=True)


def pandas_filters(files: dict[str, Path], out: Path) -> Counts:
    """Give the clean rows and the filters' counts alone: less than Ridgeline does."""
    return _pandas(files, out, with_typed_table=False)


def _pandas(files: dict[str, Path], out: Path, with_typed_table: bool) -> Counts:
    from ridgeline.lendingclub.schema import SOURCES

    tables = {name: _ParquetChunks(out / f"{name}.parquet") for name in TABLES}
    counts = {}
    for kind, path in files.items():
        names = {source: name for name, source in SOURCES[kind].items()}
        steps, bad_cells = pd.Series(dtype="int64"), pd.Series(dtype="int64")
        # With pandas' own guess of types: as text it reads three times as long.
        chunks = pd.read_csv(path, usecols=list(names), chunksize=200_000)
        for chunk in chunks:
            cells = chunk.rename(columns=names)
            typed = _typed_chunk(cells, kind)
            if with_typed_table:
                unparsed = _unparsed_chunk(cells, typed)
                bad_cells = bad_cells.add(unparsed.notna().sum(), fill_value=0)
                tables["typed"].write(pd.concat([typed, unparsed], axis=1))
            removed, kept = _filter_chunk(typed)
            steps = steps.add(removed, fill_value=0)
            clean = _clean_chunk(kept, kind)
            if with_typed_table:
                clean["row_key"] = pd.util.hash_pandas_object(kept, index=False)
            tables["clean"].write(clean)
        counts[kind] = int(steps["kept"])
    for table in tables.values():
        table.close()
    return counts


TABLES = ("typed", "clean")


class _ParquetChunks:
    """A Parquet file that grows chunk by chunk."""

    def __init__(self, path: Path) -> None:
        self._path, self._writer = path, None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._writer and self._writer.schema
        table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _typed_chunk(cells: pd.DataFrame, kind: str) -> pd.DataFrame:
    from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS

    def number(cells: pd.Series) -> pd.Series:
        is_text = cells.dtype == "str"
        return pd.to_numeric(
            cells.str.rstrip("%") if is_text else cells, errors="coerce"
        )

    is_accepted = kind == "accepted"
    score = (
        (number(cells.score_low) + number(cells.score_high)) / 2
        if is_accepted
        else number(cells.risk_score)
    )
    return pd.DataFrame(
        {
            "approved": int(is_accepted),
            "application_date": pd.to_datetime(
                cells.application_date,
                format="%b-%Y" if is_accepted else "%Y-%m-%d",
                errors="coerce",
            ),
            "amount": number(cells.amount),
            "risk_score": score,
            "dti": number(cells.dti),
            "employment_length": cells.employment_length.map(EMPLOYMENT_LEVELS),
            "title": cells.title,
        }
    )


def _unparsed_chunk(cells: pd.DataFrame, typed: pd.DataFrame) -> pd.DataFrame:
    texts = cells.assign(risk_score=cells.get("risk_score", cells.get("score_low")))
    names = ["application_date", "amount", "risk_score", "dti", "employment_length"]
    return pd.DataFrame(
        {
            f"{name}_unparsed": texts[name].where(typed[name].isna()).astype("str")
            for name in names
        }
    )


def _filter_chunk(typed: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame]:
    kept, removed = typed, {}
    for name, passes in {
        "missing_value": lambda t: t.notna().all(axis=1),
        "score_too_high": lambda t: t.risk_score <= 850,
        "dti_out_of_range": lambda t: t.dti.between(0, 200),
        "amount_too_high": lambda t: t.amount <= 40_000,
        "outside_window": lambda t: t.application_date.between(
            pd.Timestamp("2015-01-01"), pd.Timestamp("2018-06-30")
        ),
    }.items():
        passing = kept[passes(kept)]
        removed[name] = len(kept) - len(passing)
        kept = passing
    removed["kept"] = len(kept)
    return pd.Series(removed), kept


def _clean_chunk(kept: pd.DataFrame, kind: str) -> pd.DataFrame:
    from ridgeline.lendingclub.schema import PURPOSE_COLUMNS, TITLE_PURPOSES

    title = kept.title.str.lower().str.replace("_", " ", regex=False)
    purpose = title.map(TITLE_PURPOSES).fillna("Others")
    day = kept.application_date.dt
    return pd.DataFrame(
        {
            "application_date": day.year + (day.month - 1) / 12,
            "amount": kept.amount,
            "risk_score": (kept.risk_score // 5 * 5).clip(upper=845),
            "dti": kept.dti,
            "employment_length": kept.employment_length.astype("float64"),
            **{
                column: (purpose == name).astype("float64")
                for name, column in PURPOSE_COLUMNS.items()
            },
            "approved": int(kind == "accepted"),
        }
    )


CONTENDERS: dict[str, Callable[[dict[str, Path], Path], Counts]] = {
    "pandas: same outputs": pandas_chunks,
    "pandas: filters alone": pandas_filters,
    "Ridgeline: ingest, audit, clean": ridgeline_cleaning,
    "Ridgeline: and validate, split": ridgeline_pipeline,
}


def make_files(folder: Path, scale: float) -> dict[str, Path]:
    """Simulate the two published files, unless they are there already."""
    from ridgeline.lendingclub.simulator import write_published

    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for kind, full in FULL_ROWS.items():
        rows = round(full * scale)
        files[kind] = folder / f"{kind}_{rows}.csv"
        if not files[kind].exists():
            start = time.perf_counter()
            write_published(kind, files[kind], rows, SEED)
            seconds = time.perf_counter() - start
            size = files[kind].stat().st_size / 1e9
            print(f"simulated {kind}: {rows:,} rows, {size:.2f} GB, {seconds:.0f} s")
    return files


def run_contender(name: str, files: dict[str, Path]) -> dict[str, object]:
    """Run one contender in its own process; return its time, memory and counts."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-benchmark-") as out:
        start = time.perf_counter()
        child = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                __file__,
                "--contender",
                name,
                "--out",
                out,
            ]
            + [str(files[kind]) for kind in FULL_ROWS],
            stdout=subprocess.PIPE,
            text=True,
        )
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{name} failed")
    accepted, rejected = (int(count) for count in printed.split()[-2:])
    return {
        "contender": name,
        "seconds": seconds,
        "CPU s": usage.ru_utime + usage.ru_stime,
        "peak MB": usage.ru_maxrss
        / 1024
        * (1 if sys.platform == "linux" else 1 / 1024),
        "accepted kept": accepted,
        "rejected kept": rejected,
    }


def main() -> None:
    """Make the files, run every contender on them, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scale", type=float, default=0.1, help="1 is full size")
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        files = dict(zip(FULL_ROWS, arguments.files, strict=True))
        counts = CONTENDERS[arguments.contender](files, arguments.out)
        print(counts["accepted"], counts["rejected"])
        return
    with tempfile.TemporaryDirectory(prefix="ridgeline-files-") as temporary:
        files = make_files(arguments.folder or Path(temporary), arguments.scale)
        results = pd.DataFrame([run_contender(name, files) for name in CONTENDERS])
    rows = sum(round(full * arguments.scale) for full in FULL_ROWS.values())
    results.insert(3, "rows/s", rows / results.seconds)
    results.insert(4, "times pandas", results.seconds.iloc[0] / results.seconds)
    print(f"\n{rows:,} raw rows, {os.cpu_count()} cores")
    print(
        results.to_string(
            index=False,
            formatters={
                "seconds": "{:.1f}".format,
                "CPU s": "{:.1f}".format,
                "rows/s": "{:,.0f}".format,
                "times pandas": "{:.1f}".format,
                "peak MB": "{:,.0f}".format,
                "accepted kept": "{:,}".format,
                "rejected kept": "{:,}".format,
            },
        )
    )
    if results[["accepted kept", "rejected kept"]].nunique().max() != 1:
        sys.exit("The contenders did not keep the same rows.")


if __name__ == "__main__":
    main()
