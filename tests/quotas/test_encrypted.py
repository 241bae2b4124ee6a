"""Tests for Redis counters over TLS."""

import socket
import ssl
from collections.abc import Iterator
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


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with servers.redis(tmp_path, "--requirepass", "p") as url:
        plain = urlsplit(url).port
        network = Encrypted(plain, trustme.CA())
        with listening(network):
            yield network.port


def test_each_hit_is_counted(port: int):
    storage = redis_storage(f"rediss://:p@127.0.0.1:{port}/3?ssl_cert_reqs=none")
    counted = [storage.count(HITS).used[1] for _ in range(20)]
    assert counted == list(range(1, 21))


def test_untrusted_certificate_is_refused(port: int):
    storage = redis_storage(f"rediss://:p@127.0.0.1:{port}/3")
    with pytest.raises(storage.base_exceptions) as refusal:
        storage.count(HITS)
    assert isinstance(refusal.value.__context__, ssl.SSLCertVerificationError)
