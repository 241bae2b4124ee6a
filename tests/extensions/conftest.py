"""Browsers with and without a session, and a key of another project."""

import pytest
from flask import Flask

from petstore.extensions.dashboard.limits import PAGES
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.web.limiter import limiter_of
from tests.harness.browser import Browser


@pytest.fixture
def visitor(app: Flask) -> Browser:
    """A browser that is not signed in."""
    return Browser(app)


@pytest.fixture
def browser(app: Flask, key: str) -> Browser:
    """A browser that is signed in with the project's key."""
    return Browser(app, key)


@pytest.fixture
def few_pages(app: Flask, project: Project) -> None:
    """Leave the project three pages of this minute."""
    strategy, subject = limiter_of(app).strategy, f"pages:{project.id}"
    for item in PAGES:
        strategy.hit(item, subject, cost=PAGES.per_minute - 3)


@pytest.fixture
def rival_key(rival: Project) -> Key:
    """A key of the rival project."""
    return Key.find_by_prefix(Key.issue(rival, label="Rival's own")[:16])
