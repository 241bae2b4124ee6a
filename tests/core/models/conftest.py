"""Rules of models hold on each engine."""

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, for each engine in turn."""
    return request.getfixturevalue(f"{request.param}_url")
