"""Fixtures for tests of hosts and domains: a DNS server and a TLS proxy."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from petstore.extensions.hosting import verifier as hosting_verifier
from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.extensions.hosting.verifier import Verifier
from petstore.models.projects import Project
from tests.harness.dns_server import DnsServer, dns_server
from tests.harness.tls_proxy import TlsProxy, tls_proxy

BASE = "pets.example.net"
NAME = "shop.example.org"
Own = Callable[[Project, str], Domain]
hosting_verifier.start = lambda handshake, domain: handshake(domain)


@pytest.fixture
def nameserver() -> Iterator[DnsServer]:
    """A DNS server without records."""
    with dns_server() as server:
        yield server


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsProxy]:
    """A TLS proxy without certificates, whose CA the service trusts."""
    with tls_proxy() as proxy:
        trusted = tmp_path / "authority.pem"
        proxy.authority.cert_pem.write_to_path(trusted)
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        yield proxy


@pytest.fixture
def host_settings(nameserver: DnsServer, proxy: TlsProxy) -> dict[str, str]:
    """Settings that enable host routing."""
    return {
        "PETSTORE_BASE_DOMAIN": BASE,
        "PETSTORE_DNS_SERVERS": str(nameserver.address),
        "PETSTORE_TLS_ADDRESS": str(proxy.address),
    }


@pytest.fixture
def hosts(environ: dict[str, str], host_settings: dict[str, str]) -> None:
    """Switch host routing on; request it before the application."""
    environ |= host_settings


@pytest.fixture
def verifier(app: Flask) -> Verifier:
    """The verifier that checks the domains of all projects."""
    return app.extensions["verifier"]


@pytest.fixture
def own(app: Flask) -> Own:
    """A function that adds a verified domain to a project."""

    def own(project: Project, name: str) -> Domain:
        domain = Domain.add(project, name)
        domain.record(DnsResult(True, "as it should be"), by_owner=True)
        return Domain.get_own(project, domain.id)

    return own


@pytest.fixture
def shop(project: Project, own: Own) -> Domain:
    """The verified domain `NAME` of the project."""
    return own(project, NAME)
