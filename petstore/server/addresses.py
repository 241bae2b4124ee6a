"""The addresses to listen on: whether they are free."""

import asyncio
import errno
import os
import socket

from petstore.waiting import await_result

TRIES, PAUSE_SECONDS = 50, 0.1  # a service that ends may take a moment
# systemd or an earlier master hands over sockets that listen already.
HANDED_OVER = ("LISTEN_FDS", "GUNICORN_FD")


def require_free(addresses: list[tuple[str, int] | str | int]) -> None:
    """Raise `OSError` if something else listens on one of the addresses.

    Gunicorn itself tries each five times, and logs two lines for each try.
    """
    if any(name in os.environ for name in HANDED_OVER):
        return
    for address in addresses:
        if isinstance(address, tuple):
            _require_free(*address)


def _require_free(host: str, port: int) -> None:
    for _ in range(TRIES):
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise OSError(f"{host}:{port}: {error.strerror}") from None
        await_result(asyncio.sleep(PAUSE_SECONDS))
    raise OSError(
        f"{host}:{port} is in use: stop what listens there, or choose another port"
        " with PORT or --bind"
    )


def _bind(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind((host, port))
