"""Settings for the tests of domains, which need host routing."""

import pytest


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | host_settings
