"""A fixture that runs commands in this process."""

from collections.abc import Callable

import pytest
from click.testing import Result
from flask import Flask


@pytest.fixture
def flask(app: Flask) -> Callable[..., Result]:
    """Return a function that runs a command and returns its result."""
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=arguments)
