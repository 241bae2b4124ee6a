"""Fixtures that read the log and run a Redis server which a test may stop."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.harness import servers
from tests.harness.clocks import Clock


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty SQLite database, or another engine's where the test says so."""
    engine = getattr(request, "param", "sqlite")
    return request.getfixturevalue(f"{engine}_url")


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads the JSON lines on stdout since the last call."""

    def lines() -> list[dict[str, Any]]:
        *lines, rest = capfd.readouterr().out.split("\n")
        assert not rest
        return [json.loads(line) for line in lines]

    return lines


@pytest.fixture
def redis(environ: dict[str, str], clock: Clock, tmp_path: Path) -> Iterator[Popen]:
    """A Redis server for the counters; request it before the application."""
    port = servers.free_port()
    environ["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    with servers.running(servers.redis_command(tmp_path, port), port) as process:
        yield process
