"""A typed table that is not valid leaves no audit behind."""

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner

from ridgeline.datasets import (
    AtomicCsvDataset,
    AtomicJsonDataset,
    ParquetTableDataset,
    PublishedCsvDataset,
)
from ridgeline.errors import InputError
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.pipelines.data import create_pipelines

DUCKDB = {"backend": "duckdb", "database": ":memory:"}
OUTPUTS = ("cleaning_audit.csv", "cleaning_metrics.json", "applications_clean.parquet")


@pytest.fixture
def run(write_published, tmp_path):
    """Run ingestion and cleaning on files that are made of the given rows."""

    def run(**rows):
        def table(name):
            path = str(tmp_path / f"{name}.parquet")
            return ParquetTableDataset(filepath=path, connection=DUCKDB)

        def raw(kind):
            path = str(write_published(kind, rows.get(kind, [{}])))
            return PublishedCsvDataset(filepath=path, kind=kind, connection=DUCKDB)

        tables = ("applications_typed", "malformed_lines", "applications_clean")
        audit, metrics = (str(tmp_path / name) for name in OUTPUTS[:2])
        catalog = DataCatalog(
            {
                "accepted_raw": raw("accepted"),
                "rejected_raw": raw("rejected"),
                **{name: table(name) for name in tables},
                "cleaning_audit": AtomicCsvDataset(
                    filepath=audit, load_args={"keep_default_na": False}
                ),
                "cleaning_metrics": AtomicJsonDataset(filepath=metrics),
                "params:cleaning": MemoryDataset(CleaningRules()),
            }
        )
        parts = create_pipelines()
        pipeline = parts["ingestion"] + parts["cleaning"]
        SequentialRunner().run(pipeline, catalog)

    return run


def written(tmp_path):
    return [name for name in OUTPUTS if (tmp_path / name).exists()]


def test_valid_files_leave_all(run, tmp_path):
    run()
    assert written(tmp_path) == list(OUTPUTS)


def test_sign_of_a_misread_file_leaves_no_audit(run, tmp_path):
    with pytest.raises(InputError, match="risk_score: in_range"):
        run(rejected=[{}, {"risk_score": "15000"}])
    assert written(tmp_path) == []


def test_class_that_the_filters_empty_is_named_and_not_cleaned(run, tmp_path):
    with pytest.raises(InputError, match="No rejected .*'missing_value'.*12/31/2016"):
        run(rejected=[{"application_date": "12/31/2016"}] * 3)
    assert written(tmp_path) == ["cleaning_audit.csv", "cleaning_metrics.json"]
