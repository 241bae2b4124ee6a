"""What the models ask of the database."""

from collections.abc import Iterator

import pytest
from flask import Flask
from peewee import QueryEvent

from petstore.database import data


@pytest.fixture
def statements(app: Flask) -> Iterator[list[QueryEvent]]:
    """The statements of the test, as they come."""
    seen: list[QueryEvent] = []
    data.query_hooks.append(seen.append)
    yield seen
    data.query_hooks.remove(seen.append)
