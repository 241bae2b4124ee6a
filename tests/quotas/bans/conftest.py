"""Fixtures for a key that may send one request a minute and is banned soon."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock
from tests.quotas.requests import PETS

BAN_SECONDS = 90

GoOn = Callable[..., list[str]]


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """The settings, with a low threshold for a ban."""
    bans = {"PETSTORE_BAN_AFTER": "3", "PETSTORE_BAN_SECONDS": str(BAN_SECONDS)}
    return environ | bans


@pytest.fixture
def project(project: Project) -> Project:
    """A project with one request a minute."""
    project.change_plan(Plan("enterprise", 1, 1000))
    return project


@pytest.fixture
def go_on(client: FlaskClient, clock: Clock) -> GoOn:
    """A function that sends a request after each pause, given in seconds.

    It returns "served" or the error code of each request.
    """

    def go_on(*pauses: float) -> list[str]:
        results = []
        for seconds in pauses:
            if seconds:
                clock.move(seconds=seconds)
            answer = client.get(PETS)
            is_served = answer.status_code == 200
            results.append("served" if is_served else answer.json["code"])
        return results

    return go_on


@pytest.fixture
def banned(go_on: GoOn) -> None:
    """The key was just banned."""
    go_on(0, 0, 1, 1, 1)
