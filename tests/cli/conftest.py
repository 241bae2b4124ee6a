"""Fixtures that run commands in this process."""

from collections.abc import Callable, Iterator

import pytest
from click.testing import Result

from petstore import create_app
from petstore.settings import read_settings
from tests.harness import databases


@pytest.fixture
def flask_without_redis(sqlite_url: str) -> Iterator[Callable[..., Result]]:
    """Return the same function of an app whose Redis cannot be reached."""
    environ = {"DATABASE_URL": sqlite_url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    app = create_app(read_settings(environ))
    runner = app.test_cli_runner()
    yield lambda *arguments: runner.invoke(args=arguments)
    databases.close()
