"""Fixtures of the API tests."""

import pytest
from flask.testing import FlaskClient

from tests.harness.clients import ORDERS, PETS
from tests.harness.databases import each_engine

database_url = each_engine
REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture
def rex(client: FlaskClient) -> dict:
    """An animal of the project."""
    return client.post(PETS, json=REX).json


@pytest.fixture
def order(client: FlaskClient, rex: dict) -> dict:
    """An order for the animal."""
    return client.post(ORDERS, json={"petId": rex["id"]}).json
