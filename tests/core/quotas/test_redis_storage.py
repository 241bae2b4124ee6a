"""Counters in Redis: its connections, TLS, and what is an outage."""

import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import redis
import trustme

from petstore.quotas.limiter import STRANGERS
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import Ban, Window
from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.clusters import Server
from tests.harness.listening import listening
from tests.harness.proxies import Proxy

WINDOWS = [Window.of(item, "somebody") for item in STRANGERS]
BAN = Ban(key_id=7)


def test_hits_share_a_connection_and_errors_of_the_server_are_outages(
    redis_url: str, set_limits: Callable[..., None]
):
    set_limits(redis_idle_seconds=0.0)
    storage = redis_storage(redis_url)
    with redis.from_url(redis_url) as server:
        before = server.info()["total_connections_received"]
        assert [storage.acquire_windows(WINDOWS).windows[0][0] for _ in range(3)] == [
            1,
            2,
            3,
        ]
        assert server.info()["total_connections_received"] == before + 1
        server.script_flush()
        server.client_kill_filter(_type="normal")  # as after a long silence
        assert storage.acquire_windows(WINDOWS).windows[0][0] == 4
        server.config_set("maxmemory", 1)
        try:
            with pytest.raises(storage.base_exceptions, match="OOM"):
                storage.acquire_windows(WINDOWS)
        finally:
            server.config_set("maxmemory", 0)
        assert storage.acquire_windows(WINDOWS).is_granted


def test_keys_expire_when_their_windows_end_and_limits_reads_them(redis_url: str):
    storage = redis_storage(redis_url)
    granted = [storage.acquire_windows(WINDOWS, 40, BAN).is_granted for _ in range(2)]
    assert granted == [True, False]
    used = storage.acquire_windows(WINDOWS, 0).windows
    assert [storage.get(key) for key, *_ in WINDOWS] == [40, 40]
    for (key, seconds, *_), (_, ends_ms) in zip(WINDOWS, used, strict=True):
        assert ends_ms % (seconds * 1000) == 0
        assert 0 <= storage.get_expiry(key) - ends_ms / 1000 + 1 < 2
    assert 60 < storage.storage.ttl("petstore:somebody/key:7/refusals") <= 120
    assert storage.reset() == 3


def test_user_with_the_rights_that_the_documentation_names_counts(redis: Server):
    page = Path("docs/operating.md").read_text()
    named = page.partition("and the commands ")[2].partition(".\n")[0]
    commands = ["-@all", *(f"+{name}" for name in re.findall("`([A-Z]+)`", named))]
    keys = ["petstore:*", "test_*"]  # the clock of the tests is there, too
    redis.client.acl_setuser("u", True, False, "+pw", commands=commands, keys=keys)
    storage = redis_storage(redis.url.replace("//", "//u:pw@").replace("/0", "/1"))
    granted = [storage.acquire_windows(WINDOWS, 20, BAN).is_granted for _ in range(4)]
    assert granted == [True, True, True, False]
    assert storage.servers()


def test_server_that_does_not_answer_is_given_up_in_a_quarter_of_a_second(
    redis: Server, set_limits: Callable[..., None]
):
    set_limits(redis_seconds=Limits().redis_seconds)
    storage = redis_storage(redis.url)
    storage.acquire_windows(WINDOWS)
    redis.hang()
    for _ in range(2):  # on a connection that there is, and on a new one
        began = time.monotonic()
        with pytest.raises(storage.base_exceptions):
            storage.acquire_windows(WINDOWS)
        assert 0.15 < time.monotonic() - began < 2  # on a busy machine


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
    with Server(servers.free_port(), tmp_path, ("--requirepass", "p")) as server:
        network = Encrypted(server.port, trustme.CA())
        with listening(network):
            address = f"rediss://:p@127.0.0.1:{network.port}/3"
            storage = redis_storage(f"{address}?ssl_cert_reqs=none")
            assert [
                storage.acquire_windows(WINDOWS).windows[1][0] for _ in range(5)
            ] == [1, 2, 3, 4, 5]
            storage = redis_storage(address)
            with pytest.raises(storage.base_exceptions) as refusal:
                storage.acquire_windows(WINDOWS)
    assert isinstance(refusal.value.__context__, ssl.SSLCertVerificationError)
