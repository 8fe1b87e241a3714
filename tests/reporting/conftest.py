"""Fixtures for the tests of what all reports share: a known model and its rows."""

import pytest
from known_model import make_known, make_rows


@pytest.fixture(scope="session")
def known():
    return make_known()


@pytest.fixture(scope="session")
def rows():
    return make_rows()


@pytest.fixture(scope="session")
def means(rows):
    return rows.mean(numeric_only=True).to_dict()
