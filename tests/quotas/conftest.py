"""Both counter stores, and a project whose quota is quickly used up."""

import pytest
from flask import Flask

from petstore.models.projects import Plan, Project


@pytest.fixture(params=["database", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """Where the counters live, each place in turn."""
    return request.param


@pytest.fixture
def environ(
    environ: dict[str, str],
    store: str,
    patience: None,
    request: pytest.FixtureRequest,
) -> dict[str, str]:
    """The settings, with the counter store among them."""
    if store == "redis":
        environ["REDIS_URL"] = request.getfixturevalue("redis_url")
    return environ


@pytest.fixture
def project(app: Flask) -> Project:
    """A tenant with 3 requests a minute and 5 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 5))
