"""Fetching the certificate of a domain from the TLS proxy."""

import datetime
import socket
import threading
from collections.abc import Callable

import pytest
import trustme

from petstore.hosting.certificates import fetch_certificate
from petstore.settings import Address
from tests.harness.host_fixtures import NAME
from tests.harness.tls_proxy import TlsProxy

THEN = datetime.datetime(2033, 5, 18, 3, 33, 20, tzinfo=datetime.UTC)


def test_issuer_and_expiry_are_read(proxy: TlsProxy):
    proxy.issue(NAME, expires=THEN)
    seen = fetch_certificate(proxy.address, NAME)
    assert "Test Authority" in seen.issuer
    assert seen.expires_ms == 2_000_000_000_000
    assert seen.fault is None
    assert proxy.names == [NAME]


def test_punycode_name_is_supported(proxy: TlsProxy):
    proxy.issue("xn--bcher-kva.example.org")
    assert fetch_certificate(proxy.address, "xn--bcher-kva.example.org").fault is None


def test_missing_certificate_is_reported(proxy: TlsProxy):
    seen = fetch_certificate(proxy.address, NAME)
    assert seen.issuer is None
    assert "no certificate for this domain yet" in seen.fault


def test_certificate_for_another_name_is_rejected(proxy: TlsProxy):
    proxy.issue("other.example.org", shown_for=NAME)
    assert "Hostname mismatch" in fetch_certificate(proxy.address, NAME).fault


def test_expired_certificate_is_rejected(proxy: TlsProxy):
    proxy.issue(NAME, expires=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    assert "expired" in fetch_certificate(proxy.address, NAME).fault


def test_untrusted_certificate_is_rejected(proxy: TlsProxy):
    proxy.issue(NAME, authority=trustme.CA())
    assert "not valid" in fetch_certificate(proxy.address, NAME).fault


def test_unreachable_proxy_is_reported(proxy: TlsProxy):
    seen = fetch_certificate(Address("127.0.0.1", 9), NAME)
    assert seen.fault == "The proxy cannot be reached."


@pytest.mark.parametrize("host", ["a..b", "a" * 80, "\udcff"])
def test_host_that_cannot_be_encoded_is_reported(host: str):
    assert (
        fetch_certificate(Address(host, 443), NAME).fault
        == "The proxy cannot be reached."
    )


def test_handshake_timeout_is_reported(set_limits: Callable[..., None]):
    set_limits(handshake_seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = fetch_certificate(Address(*silent.getsockname()), NAME)
    assert "in time" in seen.fault


def test_proxy_that_does_not_speak_tls_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_in_plain_text() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer_in_plain_text)
        thread.start()
        seen = fetch_certificate(Address(*listener.getsockname()), NAME)
        thread.join()
    assert seen.fault
