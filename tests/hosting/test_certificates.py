"""Fetching the certificate of a domain from the TLS proxy."""

import datetime
import socket
from collections.abc import Callable

import trustme

from petstore.hosting.verifier import fetch_certificate
from petstore.settings import Address
from tests.harness.host_fixtures import NAME
from tests.harness.tls_proxy import TlsProxy

THEN = datetime.datetime(2033, 5, 18, 3, 33, 20, tzinfo=datetime.UTC)
PAST = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def test_issuer_and_expiry_are_read(proxy: TlsProxy):
    for name in (NAME, "xn--bcher-kva.example.org"):
        proxy.issue(name, expires=THEN)
        seen = fetch_certificate(proxy.address, name)
        assert seen == ("Test Authority", 2_000_000_000_000, None, None)
    assert proxy.names == [NAME, "xn--bcher-kva.example.org"]


def test_certificate_that_clients_would_refuse_is_reported(proxy: TlsProxy):
    for issued, fault in (
        (None, "no certificate for this domain yet"),
        ({"name": "other.example.org", "shown_for": NAME}, "Hostname mismatch"),
        ({"name": NAME, "expires": PAST}, "expired"),
        ({"name": NAME, "authority": trustme.CA()}, "not valid"),
    ):
        if issued:
            proxy.issue(**issued)
        seen = fetch_certificate(proxy.address, NAME)
        assert seen.issuer is None
        assert fault in seen.fault
        assert str(proxy.address) in seen.detail


def test_proxy_that_is_away_or_silent_is_reported(set_limits: Callable[..., None]):
    seen = fetch_certificate(Address("127.0.0.1", 9), NAME)
    assert seen.fault == "The proxy cannot be reached."
    set_limits(handshake_seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = fetch_certificate(Address(*silent.getsockname()), NAME)
    assert "in time" in seen.fault
