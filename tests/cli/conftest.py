"""The command line in this process."""

from collections.abc import Callable

import pytest
from click.testing import Result
from flask import Flask


@pytest.fixture
def flask(app: Flask) -> Callable[..., Result]:
    """Runs a command to its end."""
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=arguments)
