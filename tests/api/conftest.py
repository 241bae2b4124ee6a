"""The interface, asked as a worker of gunicorn asks it."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.workers import in_worker


@pytest.fixture
def app(app: Flask) -> Iterator[Flask]:
    """The service in this process, whose requests wait as those of a worker do."""
    with in_worker(app):
        yield app
