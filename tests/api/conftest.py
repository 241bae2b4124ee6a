"""Fixtures of the API tests, which run requests as a gunicorn worker does."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.harness.workers import in_worker


@pytest.fixture
def app(app: Flask) -> Iterator[Flask]:
    """The application in this process, with requests run as in a gunicorn worker."""
    with in_worker(app):
        yield app
