"""Fixtures of the API tests."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pytest
from flask.testing import FlaskClient

from tests.harness.clients import ORDERS, PETS
from tests.harness.databases import locked

REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, for each engine in turn."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def locked_data(
    set_limits: Callable[..., None], database_url: str, request: pytest.FixtureRequest
) -> Callable[[str], AbstractContextManager[None]]:
    """A function that keeps others from writing a table; request it before `app`."""
    names = ("busy", "replay_lock", "lock")
    set_limits(**{f"{name}_seconds": 0.1 for name in names})
    if database_url.startswith("sqlite"):
        return lambda _table: locked(database_url.removeprefix("sqlite:///"))
    connection: psycopg.Connection = request.getfixturevalue("postgresql")

    @contextmanager
    def lock(table: str) -> Iterator[None]:
        with connection.transaction():
            connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            yield

    return lock


@pytest.fixture
def rex(client: FlaskClient) -> dict:
    """An animal of the project."""
    return client.post(PETS, json=REX).json


@pytest.fixture
def order(client: FlaskClient, rex: dict) -> dict:
    """An order for the animal."""
    return client.post(ORDERS, json={"petId": rex["id"]}).json
