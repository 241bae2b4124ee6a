"""Fetching the certificate of a domain from the TLS proxy."""

import asyncio
import datetime
import socket
import threading
from collections.abc import Callable

import pytest
import trustme
import uvloop

from petstore.hosting.certificates import Certificate, fetch_certificate
from petstore.settings.addresses import Address
from tests.harness.host_fixtures import NAME
from tests.harness.tls_proxy import TlsProxy

Fetch = Callable[[Address, str], Certificate]
THEN = datetime.datetime(2033, 5, 18, 3, 33, 20, tzinfo=datetime.UTC)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    """A function that fetches a certificate, in each kind of event loop in turn."""

    def fetch(proxy: Address, domain: str) -> Certificate:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(fetch_certificate(proxy, domain))

    return fetch


def test_issuer_and_expiry_are_read(fetch: Fetch, proxy: TlsProxy):
    proxy.issue(NAME, expires=THEN)
    seen = fetch(proxy.address, NAME)
    assert "Test Authority" in seen.issuer
    assert seen.expires_ms == 2_000_000_000_000
    assert seen.fault is None
    assert proxy.names == [NAME]


def test_punycode_name_is_supported(fetch: Fetch, proxy: TlsProxy):
    proxy.issue("xn--bcher-kva.example.org")
    assert fetch(proxy.address, "xn--bcher-kva.example.org").fault is None


def test_missing_certificate_is_reported(fetch: Fetch, proxy: TlsProxy):
    seen = fetch(proxy.address, NAME)
    assert seen.issuer is None
    assert "no certificate for this domain yet" in seen.fault


def test_certificate_for_another_name_is_rejected(fetch: Fetch, proxy: TlsProxy):
    proxy.issue("other.example.org", shown_for=NAME)
    assert "Hostname mismatch" in fetch(proxy.address, NAME).fault


def test_expired_certificate_is_rejected(fetch: Fetch, proxy: TlsProxy):
    proxy.issue(NAME, expires=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    assert "expired" in fetch(proxy.address, NAME).fault


def test_untrusted_certificate_is_rejected(fetch: Fetch, proxy: TlsProxy):
    proxy.issue(NAME, authority=trustme.CA())
    assert "not valid" in fetch(proxy.address, NAME).fault


def test_unreachable_proxy_is_reported(fetch: Fetch, proxy: TlsProxy):
    seen = fetch(Address("127.0.0.1", 9), NAME)
    assert seen.fault == "The proxy cannot be reached."


@pytest.mark.parametrize("host", ["a..b", "a" * 80, "\udcff"])
def test_host_that_cannot_be_encoded_is_reported(fetch: Fetch, host: str):
    assert fetch(Address(host, 443), NAME).fault == "The proxy cannot be reached."


def test_handshake_timeout_is_reported(fetch: Fetch, set_limits: Callable[..., None]):
    set_limits(handshake_seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = fetch(Address(*silent.getsockname()), NAME)
    assert "in time" in seen.fault


def test_proxy_that_does_not_speak_tls_is_reported(fetch: Fetch):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_in_plain_text() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer_in_plain_text)
        thread.start()
        seen = fetch(Address(*listener.getsockname()), NAME)
        thread.join()
    assert seen.fault
