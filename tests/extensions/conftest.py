"""Browsers with and without a session, and a key of another project."""

import pytest
from flask import Flask

from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.quotas.limiter import PAGES
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
def few_pages(app: Flask, key: str) -> None:
    """Leave the project three pages of this minute."""
    pages = PAGES.per_minute - 3
    app.extensions["limiter"].count_page(Caller.find_by_key(key), pages=pages)


@pytest.fixture
def rival_key(rival: Project) -> Key:
    """A key of the rival project."""
    return Key.find_by_prefix(Key.issue(rival, label="Rival's own")[:16])
