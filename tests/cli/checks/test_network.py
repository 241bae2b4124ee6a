"""Checks of the trusted proxies and of the DNS records of the base domain."""

import socket

import pytest

from petstore.cli.checks import network
from petstore.cli.checks.network import check_hosts, check_proxies
from petstore.settings import Settings, read_settings
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE
from tests.harness.servers import free_port


def trusting(port: int) -> Settings:
    return read_settings({"PETSTORE_TRUSTED_PROXIES": "1", "PORT": str(port)})


@pytest.mark.parametrize(
    ("host", "status"), [("0.0.0.0", "warning"), ("127.0.0.1", "ok")]
)
def test_service_reachable_without_its_proxy_gives_a_warning(host: str, status: str):
    with socket.create_server((host, 0)) as listener:
        found = check_proxies(trusting(listener.getsockname()[1]))
    assert found[0] == status
    assert "listens on" in found[1]


def test_service_that_is_not_running_is_ok():
    status, message = check_proxies(trusting(free_port()))
    assert status == "ok"
    assert "nothing listens" in message


def test_base_domain_requires_a_trusted_proxy():
    assert check_proxies(read_settings({"PETSTORE_BASE_DOMAIN": BASE}))[0] == "wrong"
    assert check_proxies(read_settings({}))[0] == "ok"


def routing(nameserver: DnsServer) -> Settings:
    return read_settings(
        {
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(nameserver.address),
        }
    )


@pytest.fixture
def some_project(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name below the base domain that the check looks up."""
    monkeypatch.setattr(network.secrets, "token_hex", lambda _: "0")
    return f"check-0.{BASE}"


def test_host_check_without_a_base_domain_is_ok():
    assert check_hosts(read_settings({}))[0] == "ok"


def test_base_domain_without_an_address_is_wrong(nameserver: DnsServer):
    status, message = check_hosts(routing(nameserver))
    assert status == "wrong"
    assert message.startswith(f"{BASE} has no address")


def test_missing_wildcard_record_is_wrong(nameserver: DnsServer):
    nameserver.put(BASE, "A", "192.0.2.1")
    status, message = check_hosts(routing(nameserver))
    assert status == "wrong"
    assert message.startswith(f"*.{BASE} has no address")


@pytest.mark.parametrize(
    ("address", "status"), [("192.0.2.1", "ok"), ("192.0.2.2", "warning")]
)
def test_wildcard_should_have_the_address_of_the_base_domain(
    nameserver: DnsServer, some_project: str, address: str, status: str
):
    nameserver.put(BASE, "A", "192.0.2.1")
    nameserver.put(some_project, "A", address)
    assert check_hosts(routing(nameserver))[0] == status


def test_dns_failure_is_wrong(nameserver: DnsServer):
    nameserver.put(BASE, "CNAME", BASE)
    status, message = check_hosts(routing(nameserver))
    assert status == "wrong"
    assert "look at its DNS servers" in message
