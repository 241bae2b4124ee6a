"""Checks of the network: trusted proxies, and the base domain in DNS."""

import socket
from collections.abc import Iterable

from petstore import randomness
from petstore.cli.checks.results import Result
from petstore.hosting.dns import Lookup, Unanswered
from petstore.settings import Settings

# A Unix socket has a path, an inherited socket a number.
ListenAddress = tuple[str, int] | str | int

EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 (they are looked for, not used)
LOOPBACK = "127.0.0.1"
# A service that listens on 127.0.0.1 alone does not answer here.
OTHER_LOOPBACK = "127.0.0.2"
CONNECT_SECONDS = 1.0


def check_proxies(settings: Settings) -> Result:
    """Check that a running service cannot be reached past its trusted proxies."""
    if not settings.trusted_proxies:
        return _check_without_proxies(settings)
    if _answers(OTHER_LOOPBACK, settings.port):
        return "warning", _reachable_text(settings)
    listens = (
        f"the service listens on {LOOPBACK}:{settings.port}"
        if _answers(LOOPBACK, settings.port)
        else f"nothing listens on port {settings.port} at the moment"
    )
    return "ok", f"{settings.trusted_proxies} trusted; {listens}"


def check_listen_addresses(
    settings: Settings, addresses: Iterable[ListenAddress]
) -> Result:
    """Check the same for the addresses that a service is about to listen on."""
    if settings.trusted_proxies and any(map(_is_every_address, addresses)):
        return "warning", _reachable_text(settings)
    return "ok", f"{settings.trusted_proxies} trusted"


def _check_without_proxies(settings: Settings) -> Result:
    if settings.base_domain:
        return "wrong", (
            "PETSTORE_BASE_DOMAIN needs a TLS proxy in front, and "
            "PETSTORE_TRUSTED_PROXIES is 0, so all clients behind that proxy count as "
            "one address. Set PETSTORE_TRUSTED_PROXIES=1"
        )
    return "ok", "none trusted: clients must reach the service directly"


def _reachable_text(settings: Settings) -> str:
    return (
        f"PETSTORE_TRUSTED_PROXIES is {settings.trusted_proxies}, and the service "
        "listens on every address: a client that bypasses the proxy can "
        "claim any address. Listen on 127.0.0.1 (gunicorn --bind "
        f"127.0.0.1:{settings.port}), or let a firewall keep others out."
    )


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _is_every_address(address: ListenAddress) -> bool:
    return isinstance(address, tuple) and address[0] in EVERY_ADDRESS


def check_hosts(settings: Settings) -> Result:
    """Check that the base domain and any name below it have the same addresses."""
    base = settings.base_domain
    if base is None:
        return "ok", (
            "no PETSTORE_BASE_DOMAIN: every host is served, and projects have no hosts "
            "and domains of their own"
        )
    # Nobody has created a record for this name, so only a wildcard answers.
    some_project = f"check-{randomness.source.randbytes(4).hex()}.{base}"
    try:
        lookup = Lookup(settings.dns_servers)
        own = lookup.addresses(base, may_be_internal=True)
        below = lookup.addresses(some_project, may_be_internal=True)
    except Unanswered as reason:
        return "wrong", f"{reason}; look at its DNS servers"
    return _compare_addresses(base, own, below)


def _compare_addresses(base: str, own: set[str], below: set[str]) -> Result:
    if not own:
        return "wrong", f"{base} has no address in DNS; point it at the TLS proxy"
    if not below:
        return "wrong", f"*.{base} has no address in DNS; point it where {base} points"
    if own != below:
        return "warning", (
            f"{base} has the addresses {_list(own)}, but *.{base} has {_list(below)}; "
            "both must lead to the TLS proxy"
        )
    return "ok", f"{base} and *.{base} lead to {_list(own)}"


def _list(addresses: set[str]) -> str:
    return ", ".join(sorted(addresses))
