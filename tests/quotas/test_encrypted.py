"""Tests for Redis counters over TLS."""

import socket
import ssl
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from petstore.quotas.limiter import STRANGERS
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import Hit
from tests.harness import servers
from tests.harness.listening import listening
from tests.harness.proxies import Proxy

HITS = [Hit("somebody", STRANGERS)]


class Encrypted(Proxy):
    """A proxy that accepts TLS and forwards plain text to its target."""

    def __init__(self, target: int, authority: trustme.CA) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(self._context)
        super().__init__(target)

    def finish_request(self, client: socket.socket, address: object) -> None:
        with (
            suppress(ssl.SSLError),
            self._context.wrap_socket(client, server_side=True) as channel,
        ):
            super().finish_request(channel, address)


def test_hits_are_counted_over_tls_and_an_untrusted_certificate_is_refused(
    tmp_path: Path,
):
    with servers.redis(tmp_path, "--requirepass", "p") as url:
        network = Encrypted(urlsplit(url).port, trustme.CA())
        with listening(network):
            address = f"rediss://:p@127.0.0.1:{network.port}/3"
            storage = redis_storage(f"{address}?ssl_cert_reqs=none")
            assert [storage.count(HITS).used[1] for _ in range(5)] == [1, 2, 3, 4, 5]
            storage = redis_storage(address)
            with pytest.raises(storage.base_exceptions) as refusal:
                storage.count(HITS)
    assert isinstance(refusal.value.__context__, ssl.SSLCertVerificationError)
