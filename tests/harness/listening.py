"""Servers in threads of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

POLL_SECONDS = 0.01


@contextmanager
def listening(*servers: BaseServer) -> Iterator[None]:
    """Let the servers answer for the duration of the block."""
    threads = [
        threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()
