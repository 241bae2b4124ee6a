"""What a process writes, line by line."""

import json
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One engine is enough: nothing that operators see depends on it."""
    return sqlite_url


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    """Reads what was written on stdout since the last time, which must be JSON."""

    def lines() -> list[dict[str, Any]]:
        *lines, rest = capfd.readouterr().out.split("\n")
        assert not rest
        return [json.loads(line) for line in lines]

    return lines
