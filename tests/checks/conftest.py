"""Fixtures for the checks, which need open databases but no app."""

from collections.abc import Callable, Iterator

import pytest

from petstore.database import open_databases
from petstore.settings import Settings, read_settings
from tests import databases


@pytest.fixture
def opened() -> Iterator[Callable[..., Settings]]:
    """A function that opens the databases and returns the settings."""

    def opened(url: str, **environ: str) -> Settings:
        settings = read_settings({"DATABASE_URL": url, **environ})
        open_databases(settings)
        return settings

    yield opened
    databases.close()
