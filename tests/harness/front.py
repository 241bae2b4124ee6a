"""Caddy in front of the service, and a client for it."""

import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.harness.clients import Answer
from tests.harness.servers import ROOT, free_port, running

BASE = "pets.example.net"  # the base domain


@dataclass
class Front:
    """The ports of a proxy, and the root certificate that its clients trust."""

    http: int
    https: int
    trusted: Path

    @classmethod
    def anywhere(cls, trusted: Path) -> Self:
        """Return one with free ports."""
        return cls(free_port(), free_port(), trusted)

    def get(self, host: str, path: str = "/v1/pets", **headers: str) -> Answer:
        """Send a GET to https://HOST/PATH, verifying the certificate."""
        connection = self.connection(host)
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            connection.request("GET", path, headers=sent)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def connection(
        self, host: str, context: ssl.SSLContext | None = None
    ) -> http.client.HTTPSConnection:
        """Return a connection for the host that verifies the certificate."""
        context = context or ssl.create_default_context(cafile=str(self.trusted))
        return _Connection(host, self.https, context)


@contextmanager
def caddy(
    directory: Path, front: Front, options: list[str], environ: dict[str, str]
) -> Iterator[None]:
    """Run Caddy with deploy/Caddyfile, on the test's ports and with these options."""
    directory.mkdir(exist_ok=True)
    settings = [
        "{",
        "admin off",
        f"http_port {front.http}",
        f"https_port {front.https}",
        *options,
        f"storage file_system {directory / 'storage'}",
    ]
    delivered = (ROOT / "deploy" / "Caddyfile").read_text()
    config = directory / "Caddyfile"
    config.write_text(delivered.replace("\n{\n", "\n" + "\n".join(settings) + "\n", 1))
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    environ = {"HOME": str(directory)} | environ
    with running(command, front.https, directory / "caddy.log", environ):
        yield


class _Connection(http.client.HTTPSConnection):
    """A connection to Caddy for any host, as if DNS resolved it to Caddy."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext) -> None:
        super().__init__(host, timeout=60, context=context)
        self._front = port

    def connect(self) -> None:
        raw = socket.create_connection(("127.0.0.1", self._front), self.timeout)
        try:
            self.sock = self._context.wrap_socket(raw, server_hostname=self.host)
        except BaseException:
            raw.close()
            raise
