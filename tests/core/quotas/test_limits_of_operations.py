"""A limit of an operation counts through every door, and is told as what it is."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from limits import RateLimitItemPerDay

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.quotas import limiter
from tests.core.quotas.requests import PETS, on_one_store
from tests.harness.clocks import Clock

REX, TOM = {"name": "Rex", "categoryId": 7}, {"name": "Tom", "categoryId": "Dogs"}
ADDING, LISTING = (
    RateLimitItemPerDay(3, namespace=name) for name in ("addition", "list")
)


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_BAN_AFTER": "3"}


@pytest.fixture
def project(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with 10 requests a minute that may add 3 animals a day."""
    monkeypatch.setitem(limiter.OPERATIONS, "pets.create_pet", ADDING)
    return Project.add("Shelter", None, Plan("enterprise", 10, 100))


def add(client: FlaskClient, times: int) -> list[int]:
    return [client.post(PETS, json=REX).status_code for _ in range(times)]


@on_one_store
def test_refusal_names_the_limit(client: FlaskClient, clock: Clock):
    assert add(client, 3) == [201] * 3
    refused = client.post(PETS, json=REX)
    assert (
        refused.json["message"]
        == "Each plan allows 3 additions a day; wait 43,190 seconds."
    )
    assert refused.headers["RateLimit-Policy"].endswith(', "addition-day";q=3;w=86400')
    assert refused.headers["X-RateLimit-Limit"] == "3"
    clock.move(seconds=int(refused.headers["Retry-After"]))
    assert add(client, 1) == [201]


def test_refusals_by_it_alone_do_not_ban_the_key(client: FlaskClient, clock: Clock):
    add(client, 3)
    for _ in range(9):
        clock.move(seconds=1)
        assert client.post(PETS, json=REX).json["code"] == "rate_limit_exceeded"
    assert [client.get(PETS).status_code for _ in range(8)] == [200] * 7 + [429]
    codes = []
    for _ in range(3):
        clock.move(seconds=1)
        codes.append(client.get(PETS).json["code"])
    assert codes[-1] == "api_key_banned"


@on_one_store
def test_key_for_a_web_page_shows_no_limit_of_its_project(
    client_of: Callable, project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(limiter.OPERATIONS, "pets.list_pets", LISTING)
    page = client_of(Key.issue(project, Grant(PUBLIC, per_minute=5, per_day=50)))
    answers = [page.get(PETS) for _ in range(4)]
    assert "The project of this key has no requests" in answers[3].json["message"]
    policy = '"key-minute";q=5;w=60, "key-day";q=50;w=86400'
    assert {each.headers["RateLimit-Policy"] for each in answers} == {policy}
    # Another operation has a limit of its own.
    assert add(client_of(Key.issue(project)), 3) == [201] * 3
