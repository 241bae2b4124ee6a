"""Fixtures that read the log and run a Redis server which a test may stop."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.clocks import Clock
from tests.harness.clusters import Server


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads the JSON lines on stdout since the last call."""

    def lines() -> list[dict[str, Any]]:
        *lines, rest = capfd.readouterr().out.split("\n")
        assert not rest
        return [json.loads(line) for line in lines]

    return lines


@pytest.fixture
def redis(environ: dict[str, str], clock: Clock, redis: Server) -> Server:
    """A Redis server for the counters; request it before the application."""
    environ["REDIS_URL"] = redis.url
    return redis
