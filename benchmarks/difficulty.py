"""How hard is the simulated task beside the real one?

    RIDGELINE_REAL_DATA=FOLDER python benchmarks/difficulty.py

AUC in five-fold cross-validation on clean rows, as many of each class as the real
samples leave (3,206 and 1,034), for scikit-learn's gradient boosting and logistic
regression. Without the samples only the simulated rows are measured.
"""

import os
import tempfile
from pathlib import Path

import ibis
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ridgeline.lendingclub.cleaning import FEATURES, CleaningRules, clean_applications
from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.lendingclub.simulator import write_published

ROWS = {"accepted": 6_000, "rejected": 6_000}
KEPT = {1: 3_206, 0: 1_034}
MODELS = {
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}


def clean(files: dict[str, Path]) -> pd.DataFrame:
    """Take two published files through the cleaning; cut to the same class sizes."""
    connection = ibis.duckdb.connect()
    tables = [
        read_published(connection, find_files(str(path), kind), kind).rows
        for kind, path in files.items()
    ]
    rows = clean_applications(parse_applications(*tables), CleaningRules()).execute()
    rows = rows.sort_values("row_key", ignore_index=True)
    return pd.concat(
        [rows[rows.approved == label].head(count) for label, count in KEPT.items()]
    )


def main() -> None:
    """Print one line for each set of rows and model."""
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.csv" for kind in ROWS}
        for kind, path in files.items():
            write_published(kind, path, ROWS[kind], seed=0)
        tables = {"simulated": clean(files)}
    if real := os.environ.get("RIDGELINE_REAL_DATA"):
        samples = {kind: Path(real) / f"{kind}_sample.csv" for kind in ROWS}
        tables["real"] = clean(samples)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, rows in tables.items():
        X, y = rows[list(FEATURES)], rows.approved
        for model, estimator in MODELS.items():
            auc = cross_val_score(estimator, X, y, cv=folds, scoring="roc_auc")
            print(f"{name:10s} {model:20s} AUC {auc.mean():.3f}  ({len(rows):,} rows)")


if __name__ == "__main__":
    main()
