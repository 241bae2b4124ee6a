"""Installations that share a Redis, each with an id in its own database."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from redis import Redis

from petstore.models.secrets import Secret
from tests.quotas.requests import PETS, remaining

pytestmark = pytest.mark.parametrize("store", ["redis"], indirect=True)


@pytest.fixture
def names(redis_url: str) -> Callable[[], set[str]]:
    """A function that returns the beginnings of the names in Redis."""

    def names() -> set[str]:
        with Redis.from_url(redis_url, decode_responses=True) as server:
            return {name.partition("{")[0] for name in server.keys("petstore:*")}

    return names


def test_names_begin_with_an_id_from_the_database(
    client: FlaskClient, names: Callable[[], set[str]]
):
    assert remaining(client.get(PETS)) == (2, 4)
    assert names() == {f"petstore:{Secret.shared('installation')[:12]}:"}
