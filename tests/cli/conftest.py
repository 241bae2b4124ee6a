"""Commands run on SQLite, or on each engine where a test says so."""

import pytest


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty SQLite database, or another engine's where the test says so.

    What differs between the engines is below the commands, and has its own tests.
    """
    engine = getattr(request, "param", "sqlite")
    return request.getfixturevalue(f"{engine}_url")
