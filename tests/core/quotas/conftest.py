"""Fixtures for each counter store and a project with a small quota."""

import pytest
from flask import Flask

from petstore.models.projects import Plan, Project


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """Where requests are counted: each store in turn."""
    return request.param


@pytest.fixture
def database_url(store: str, request: pytest.FixtureRequest) -> str:
    """The URL of an empty database that can hold the counters."""
    engine = "postgresql" if store == "postgresql" else "sqlite"
    return request.getfixturevalue(f"{engine}_url")


@pytest.fixture
def environ(
    environ: dict[str, str], store: str, request: pytest.FixtureRequest
) -> dict[str, str]:
    """The settings, including the counter store."""
    if store == "redis":
        environ["REDIS_URL"] = request.getfixturevalue("redis_url")
    return environ


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with 3 requests a minute and 5 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 5))
