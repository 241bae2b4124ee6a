"""Both counter stores, and a project whose quota is quickly used up."""

import pytest
from flask import Flask

from petstore.models.projects import Plan, Project
from petstore.quotas.stores import redis_clients


@pytest.fixture(params=["database", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """Where the counters live, each place in turn."""
    return request.param


@pytest.fixture
def environ(
    environ: dict[str, str],
    store: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, str]:
    """The settings, with the counter store among them.

    It has time to answer: a busy machine must not pass for an outage.
    """
    if store == "redis":
        environ["REDIS_URL"] = request.getfixturevalue("redis_url")
        monkeypatch.setattr(redis_clients, "HIT_SECONDS", 20.0)
    return environ


@pytest.fixture
def project(app: Flask) -> Project:
    """A tenant with 3 requests a minute and 5 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 5))
