"""Settings and domains for tests that need host routing."""

import pytest

from petstore.extensions.hosting.models import Domain
from petstore.models.projects import Project
from tests.extensions.hosting.fixtures import BASE, NAME
from tests.harness.dns_server import DnsServer


@pytest.fixture(autouse=True)
def routed(hosts: None) -> None:
    """Host routing is on."""


@pytest.fixture
def domain(project: Project, nameserver: DnsServer) -> Domain:
    """A domain that is not verified yet, but points at the project in DNS."""
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    return Domain.add(project, NAME)
