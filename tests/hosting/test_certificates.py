"""Fetching the certificate of a domain from the TLS proxy."""

import datetime
import socket
import threading
from collections.abc import Callable
from contextlib import closing

import pytest
import trustme

from petstore.hosting.verifier import fetch_certificate
from petstore.settings import Address
from tests.harness.host_fixtures import NAME
from tests.harness.tls_proxy import TlsProxy

THEN = datetime.datetime(2033, 5, 18, 3, 33, 20, tzinfo=datetime.UTC)
PAST = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize("name", [NAME, "xn--bcher-kva.example.org"])
def test_issuer_and_expiry_are_read(proxy: TlsProxy, name: str):
    proxy.issue(name, expires=THEN)
    seen = fetch_certificate(proxy.address, name)
    assert seen == ("Test Authority", 2_000_000_000_000, None, None)
    assert proxy.names == [name]


@pytest.mark.parametrize(
    ("issued", "fault"),
    [
        (None, "no certificate for this domain yet"),
        ({"name": "other.example.org", "shown_for": NAME}, "Hostname mismatch"),
        ({"name": NAME, "expires": PAST}, "expired"),
        ({"name": NAME, "authority": trustme.CA()}, "not valid"),
    ],
)
def test_certificate_that_clients_would_refuse_is_reported(
    proxy: TlsProxy, issued: dict | None, fault: str
):
    if issued:
        proxy.issue(**issued)
    seen = fetch_certificate(proxy.address, NAME)
    assert seen.issuer is None
    assert fault in seen.fault
    assert str(proxy.address) in seen.detail


def test_unreachable_proxy_is_reported(proxy: TlsProxy):
    seen = fetch_certificate(Address("127.0.0.1", 9), NAME)
    assert seen.fault == "The proxy cannot be reached."


def test_handshake_timeout_is_reported(set_limits: Callable[..., None]):
    set_limits(handshake_seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = fetch_certificate(Address(*silent.getsockname()), NAME)
    assert "in time" in seen.fault


def test_proxy_that_does_not_speak_tls_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_in_plain_text() -> None:
            with closing(listener.accept()[0]) as connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer_in_plain_text)
        thread.start()
        assert fetch_certificate(Address(*listener.getsockname()), NAME).fault
        thread.join()
