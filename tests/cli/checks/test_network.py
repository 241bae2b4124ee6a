"""Checks of the trusted proxies and of the DNS records of the base domain."""

import socket

import pytest

from petstore import randomness
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


def test_host_check_without_a_base_domain_is_ok():
    assert check_hosts(read_settings({}))[0] == "ok"


WILDCARD = f"check-00000000.{BASE}"  # the name below the base domain that is looked up


@pytest.mark.parametrize(
    ("records", "status", "message"),
    [
        ([], "wrong", "no address in DNS; point it at the TLS proxy"),
        ([(BASE, "A", "192.0.2.1")], "wrong", f"*.{BASE} has no address"),
        (
            [(BASE, "A", "192.0.2.1"), (WILDCARD, "A", "192.0.2.2")],
            "warning",
            f"{BASE} has the addresses 192.0.2.1, but *.{BASE} has 192.0.2.2",
        ),
        ([(BASE, "A", "192.0.2.1"), (WILDCARD, "A", "192.0.2.1")], "ok", f"{BASE} and"),
        ([(BASE, "CNAME", BASE)], "wrong", "look at its DNS servers"),
    ],
)
def test_base_domain_and_its_wildcard_need_the_same_address(
    nameserver: DnsServer,
    monkeypatch: pytest.MonkeyPatch,
    records: list[tuple[str, str, str]],
    status: str,
    message: str,
):
    monkeypatch.setattr(randomness.source, "randbytes", bytes)
    for record in records:
        nameserver.put(*record)
    servers = {"PETSTORE_DNS_SERVERS": str(nameserver.address)}
    found = check_hosts(read_settings({"PETSTORE_BASE_DOMAIN": BASE} | servers))
    assert found[0] == status
    assert message in found[1]
