"""Turns of callers that are taken, and fixtures for tests of them."""

from collections.abc import Callable
from time import monotonic

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.timeouts import LIMITS
from petstore.web.turns import Name, turns_of

MOST, HERE = LIMITS.running_requests, "127.0.0.1"


def fill(app: Flask, name: Name) -> None:
    """Take all turns of a caller, who has none."""
    for _ in range(MOST):
        assert turns_of(app).acquire(name, monotonic())


def is_free(app: Flask, name: Name) -> bool:
    """Return whether nobody has a turn of the caller."""
    return name not in turns_of(app)._running


@pytest.fixture
def key_id(key: str) -> int:
    """The id of the project's key."""
    return Key.get(Key.prefix == key[:16]).id


@pytest.fixture
def nobody_waits(set_limits: Callable[..., None]) -> None:
    """Limits with which nobody waits for a turn."""
    set_limits(waiting_requests=0)
