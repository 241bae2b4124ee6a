"""An in-process TLS server that stands in for the TLS proxy."""

import datetime
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

import trustme

from petstore.settings import Address
from tests.harness.listening import listening


class TlsProxy(ThreadingTCPServer):
    """A TLS server that selects a certificate by SNI and records the names."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handshake)
        self.address = Address(*self.server_address)
        self.authority = trustme.CA(organization_name="Test Authority")
        self.names: list[str | None] = []
        self.contexts: dict[str, ssl.SSLContext] = {}
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.sni_callback = self._choose

    def issue(
        self,
        name: str,
        expires: datetime.datetime | None = None,
        authority: trustme.CA | None = None,
        shown_for: str | None = None,
    ) -> None:
        """Issue a certificate for a name, and present it from now on."""
        issued = (authority or self.authority).issue_cert(name, not_after=expires)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued.configure_cert(context)
        self.contexts[shown_for or name] = context

    def _choose(
        self, channel: ssl.SSLObject, name: str | None, _: object
    ) -> int | None:
        self.names.append(name)
        if name not in self.contexts:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        channel.context = self.contexts[name]
        return None


class _Handshake(BaseRequestHandler):
    def handle(self) -> None:
        self.request.settimeout(5)
        with suppress(OSError):
            self.server.context.wrap_socket(self.request, server_side=True).close()


@contextmanager
def tls_proxy() -> Iterator[TlsProxy]:
    """Run a proxy for the duration of the block."""
    proxy = TlsProxy()
    with listening(proxy):
        yield proxy
