"""Fixtures for the report's tests: a known model, its rows and its truth."""

import numpy as np
import pytest
from known_model import make_known, make_rows, true_curves

from ridgeline.tables.report.marginals import marginal_rates
from ridgeline.tables.report.truth import compare_with_truth


@pytest.fixture(scope="session")
def known():
    return make_known()


@pytest.fixture(scope="session")
def rows():
    return make_rows()


@pytest.fixture(scope="session")
def labels(known, rows):
    rng = np.random.default_rng(1)
    return (rng.uniform(size=len(rows)) < known.predict_proba(rows)[:, 1]).astype(int)


@pytest.fixture(scope="session")
def marginals(rows, labels):
    return marginal_rates(rows, labels)


@pytest.fixture(scope="session")
def means(marginals):
    return {name: m.mean for name, m in marginals.items() if m.numeric}


@pytest.fixture(scope="session")
def truth(known, rows):
    return compare_with_truth(known, rows, true_curves())
