"""An in-process TLS server that stands in for the TLS proxy."""

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import trustme

from petstore.settings.addresses import Address


class TlsProxy:
    """A TLS server that selects a certificate by SNI and records the names."""

    def __init__(self) -> None:
        self.authority = trustme.CA(organization_name="Test Authority")
        self.names: list[str | None] = []
        self.contexts: dict[str, ssl.SSLContext] = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address(*self.listener.getsockname())

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

    def serve(self) -> None:
        """Complete TLS handshakes until the listener is closed."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = self._choose
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(5)
            with connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True).close()

    def _choose(
        self, channel: ssl.SSLObject, name: str | None, _: object
    ) -> int | None:
        self.names.append(name)
        if name not in self.contexts:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        channel.context = self.contexts[name]
        return None


@contextmanager
def tls_proxy() -> Iterator[TlsProxy]:
    """Run a proxy for the duration of the block."""
    proxy = TlsProxy()
    thread = threading.Thread(target=proxy.serve)
    thread.start()
    yield proxy
    proxy.listener.shutdown(socket.SHUT_RDWR)
    proxy.listener.close()
    thread.join()
