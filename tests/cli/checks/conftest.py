"""A fixture for the checks, which need open databases but no app."""

from collections.abc import Callable, Iterator

import pytest

from petstore.settings import Settings, read_settings
from petstore.storage.database import open_databases
from tests.harness import databases


@pytest.fixture
def opened() -> Iterator[Callable[[str], Settings]]:
    """A function that opens the databases and returns the settings."""

    def opened(url: str) -> Settings:
        settings = read_settings({"DATABASE_URL": url})
        open_databases(settings)
        return settings

    yield opened
    databases.close()
