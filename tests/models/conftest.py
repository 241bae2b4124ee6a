"""What the models ask of the database."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.statements import Statement, recorded


@pytest.fixture
def statements(app: Flask) -> Iterator[list[Statement]]:
    """The statements of the test, as they come."""
    with recorded() as seen:
        yield seen
