"""Host routing for everything about domains."""

import pytest


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """Settings with a base domain."""
    return environ | host_settings
