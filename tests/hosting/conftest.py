"""Settings and domains for tests that need host routing."""

import pytest

from petstore.models.domains import Domain
from petstore.models.projects import Project
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE, NAME


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | host_settings


@pytest.fixture
def domain(project: Project, nameserver: DnsServer) -> Domain:
    """A domain that is not verified yet, but points at the project in DNS."""
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    return Domain.add(project, NAME)
