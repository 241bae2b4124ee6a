"""Fixtures for the tests of the models."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.harness.statements import Statement, recorded


@pytest.fixture
def statements(app: Flask) -> Iterator[list[Statement]]:
    """The SQL statements of the test, recorded as they run."""
    with recorded() as seen:
        yield seen
