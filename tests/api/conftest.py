"""Fixtures of the API tests, which run requests as a gunicorn worker does."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.harness.workers import in_worker


@pytest.fixture
def app(app: Flask) -> Iterator[Flask]:
    """The application in this process, with requests run as in a gunicorn worker."""
    with in_worker(app):
        yield app


@pytest.fixture
def rex(client: FlaskClient) -> dict:
    """An animal of the project."""
    return client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json


@pytest.fixture
def order(client: FlaskClient, rex: dict) -> dict:
    """An order for the animal."""
    return client.post("/v1/store/orders", json={"petId": rex["id"]}).json
