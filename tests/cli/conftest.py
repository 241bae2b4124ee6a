"""The command line in this process."""

from collections.abc import Callable

import pytest
from click.testing import Result
from flask import Flask

from petstore.engines import Connection


@pytest.fixture
def flask(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command to its end."""
    # A command lifts it for its process, which here has other tests to run.
    monkeypatch.setattr(Connection, "statement_seconds", Connection.statement_seconds)
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=arguments)
