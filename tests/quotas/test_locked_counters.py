"""A counter that somebody else keeps locked, in PostgreSQL."""

from collections.abc import Callable

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.quotas.requests import PETS, remaining, send


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_locked_counter_refuses_its_requests_and_is_no_outage(
    app: Flask,
    client: FlaskClient,
    postgresql_url: str,
    set_limits: Callable[..., None],
):
    send(client)
    set_limits(replay_lock_seconds=0.1, lock_seconds=0.1)
    with psycopg.connect(postgresql_url) as other:
        other.execute('SELECT * FROM "counter" FOR UPDATE')
        answer = client.get(PETS)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json["message"] == (
        "The request could not be counted; please try again."
    )
    assert not app.extensions["limiter"].is_down
    assert remaining(client.get(PETS)) == (1, 3)
