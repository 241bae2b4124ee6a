"""The dashboard while Redis is unavailable."""

import pytest

from petstore.models.projects import Project
from tests.harness.browser import Browser
from tests.harness.servers import free_port


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """The settings, with the URL of a Redis that is not running."""
    return environ | {"REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"}


@pytest.fixture
def clock() -> None:
    """Real time, because the clock of a store that is down cannot be moved."""


def test_overview_says_that_the_counters_are_unavailable(visitor: Browser, key: str):
    assert visitor.sign_in(key).status_code == 303
    assert "The request counters cannot be reached" in visitor.read("/dashboard")


def test_failed_sign_ins_are_still_counted(visitor: Browser, project: Project):
    answers = [visitor.sign_in("wrong").status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]
