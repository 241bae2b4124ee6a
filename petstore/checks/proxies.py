"""The trusted proxies, against the address that the service listens on."""

import socket
from collections.abc import Iterable

from petstore.checks.findings import Finding
from petstore.settings import Settings

Place = (
    tuple[str, int] | str | int
)  # a Unix socket has a path, an inherited one a number

CHECK = "proxies"
EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 (they are looked for, not used)
LOOPBACK = "127.0.0.1"
# A service that listens on 127.0.0.1 alone does not answer here.
OTHER_LOOPBACK = "127.0.0.2"
CONNECT_SECONDS = 1.0


def check(settings: Settings) -> Finding:
    """Look at the port of the settings for a service that is running."""
    if not settings.trusted_proxies:
        return _untrusting(settings)
    if _answers(OTHER_LOOPBACK, settings.port):
        return Finding.warning(CHECK, _passed_by(settings))
    where = (
        f"the service listens on {LOOPBACK}:{settings.port}"
        if _answers(LOOPBACK, settings.port)
        else f"nothing listens on port {settings.port} at the moment"
    )
    return Finding.ok(CHECK, f"{settings.trusted_proxies} trusted; {where}")


def check_places(settings: Settings, places: Iterable[Place]) -> Finding:
    """The same for the places where a service is going to listen."""
    if settings.trusted_proxies and any(map(_is_every_address, places)):
        return Finding.warning(CHECK, _passed_by(settings))
    return Finding.ok(CHECK, f"{settings.trusted_proxies} trusted")


def _untrusting(settings: Settings) -> Finding:
    if settings.base_domain:
        return Finding.wrong(
            CHECK,
            "PETSTORE_BASE_DOMAIN needs a TLS proxy in front, and "
            "PETSTORE_TRUSTED_PROXIES is 0, so all clients behind that proxy count as "
            "one address. Set PETSTORE_TRUSTED_PROXIES=1",
        )
    return Finding.ok(CHECK, "none trusted: clients must reach the service directly")


def _passed_by(settings: Settings) -> str:
    return (
        f"PETSTORE_TRUSTED_PROXIES is {settings.trusted_proxies}, and the service "
        "listens on every address: whoever reaches it past the proxy is believed "
        "what it says about addresses. Listen on 127.0.0.1 (gunicorn --bind "
        f"127.0.0.1:{settings.port}), or let a firewall keep others out."
    )


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _is_every_address(place: Place) -> bool:
    return isinstance(place, tuple) and place[0] in EVERY_ADDRESS
