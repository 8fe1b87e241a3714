"""The same expressions on Spark: the same audit, the same split."""

import shutil

import pandas as pd
import pytest

from ridgeline.datasets import ParquetTableDataset
from ridgeline.lendingclub.auditing import audit_cleaning
from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.lendingclub.simulator import write_published
from ridgeline.lendingclub.splitting import SplitShares, split_applications
from ridgeline.lendingclub.validation import (
    validate_clean,
    validate_lines,
    validate_typed,
)
from ridgeline.pipelines.data.nodes import type_applications

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
if shutil.which("java") is None:
    pytest.skip("Java is not installed", allow_module_level=True)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

# Lines and cells that only a person would understand, on top of the simulated dirt.
EXTRA_LINES = """\
10000.0,2016-03-01,other,650.0,12.5%,123xx,CA,< 1 year
10000.0,2016-03-01,other,650.0,12.5%,123xx,CA,< 1 year,0.0,one too many
10000.0,2016-03-01,other,very good,12.5%,123xx,CA,< 1 year,0.0
lots,2016-03-xx,other,650.0,12.5 %,123xx,CA,forever,0.0
10000.0,2016-03-01,"a ""quoted"", title",650.0,12.5%,123xx,CA,"",0.0
"""


@pytest.fixture(scope="module")
def spark():
    """Start Spark in this process, listening on loopback only."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield {"backend": "pyspark"}  # connects to the session that runs
    session.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Simulate both files and spoil the rejected one a little more."""
    folder = tmp_path_factory.mktemp("files")
    paths = {kind: folder / f"{kind}.csv" for kind in ("accepted", "rejected")}
    for kind, path in paths.items():
        write_published(kind, path, {"accepted": 2_000, "rejected": 20_000}[kind], 0)
    with paths["rejected"].open("a") as file:
        file.write(EXTRA_LINES)
    return paths


def run(engine, files, folder):
    """Take the road of the data, table by table, as the pipelines do."""

    def dataset(name):
        return ParquetTableDataset(
            filepath=str(folder / f"{name}.parquet"), connection=engine
        )

    def saved(name, table):
        dataset(name).save(table)
        return dataset(name).load()

    connection = dataset("any").connection
    rules = CleaningRules()
    tables = [
        read_published(connection, find_files(str(path), kind), kind)
        for kind, path in files.items()
    ]
    typed, malformed, counts = type_applications(*tables)
    typed, malformed = saved("typed", typed), saved("malformed", malformed)
    lines = {name: LineCount(**count) for name, count in counts.items()}
    validate_lines(typed, malformed, lines)
    validate_typed(typed)
    audit = audit_cleaning(typed, malformed, lines, rules)
    clean = saved("clean", clean_applications(typed, rules))
    validate_clean(clean, rules)
    sets = split_applications(clean, SplitShares(), seed=0)
    return audit, {name: saved(name, rows).execute() for name, rows in sets.items()}


def test_same_audit_and_same_split_as_duckdb(spark, files, tmp_path):
    audit, sets = run({"backend": "duckdb"}, files, tmp_path / "duckdb")
    spark_audit, spark_sets = run(spark, files, tmp_path / "spark")
    pd.testing.assert_frame_equal(audit, spark_audit)
    assert audit.set_index(["step", "class"]).removed["line", "rejected"] == 2
    assert audit.set_index(["step", "class"]).removed["risk_score", "rejected"] == 1
    for name, rows in sets.items():
        assert len(rows) > 500
        pd.testing.assert_frame_equal(rows, spark_sets[name])


def test_exact_counts_on_the_real_samples(spark, real_samples, tmp_path):
    audit, _ = run(spark, real_samples, tmp_path)
    kept = audit[audit.step == "outside_window"].set_index("class").kept
    assert kept.to_dict() == {"accepted": 3206, "rejected": 1034}
