"""Installations that share a Redis, each with an id in its own database."""

import pytest
from flask.testing import FlaskClient
from redis import Redis

from petstore.models.secrets import Secret
from tests.quotas.requests import PETS, remaining


@pytest.mark.parametrize("store", ["redis"], indirect=True)
def test_names_begin_with_an_id_from_the_database(client: FlaskClient, redis_url: str):
    assert remaining(client.get(PETS)) == (2, 4)
    with Redis.from_url(redis_url, decode_responses=True) as server:
        names = {name.partition("{")[0] for name in server.keys("petstore:*")}
    assert names == {f"petstore:{Secret.shared('installation')[:12]}:"}
