"""Domains and host:port addresses in settings, checked."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

MAX_PORT = 65_535

LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
# The last label is not a number, so an IP address is not a name.
_NAME = rf"({LABEL}\.)*(?![0-9]+$){LABEL}"
_HOST = re.compile(rf"(?=.{{1,253}}$){_NAME}")
_DOMAIN = re.compile(rf"(?=.{{1,189}}$){_NAME}")  # a slug must fit in front
_ADDRESS = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):([1-9][0-9]{0,4})")


class Address(NamedTuple):
    """The host and the port of a server."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def domain(text: str) -> str:
    """Return a domain in lower case; raises ValueError."""
    name = text.lower().removesuffix(".")
    if not _DOMAIN.fullmatch(name):
        raise ValueError(
            "must be a domain like pets.example.org, without scheme and port, "
            f"not {text!r}"
        )
    return name


def addresses(text: str) -> tuple[Address, ...]:
    """Return each `host:port` of a list separated by commas; raises ValueError."""
    return tuple(address(part.strip()) for part in text.split(","))


def address(text: str) -> Address:
    """Return one `host:port`; raises ValueError."""
    parts = _ADDRESS.fullmatch(text)
    if parts is None or int(parts[2]) > MAX_PORT or not _is_host(parts[1]):
        raise ValueError(f"must be host:port, an IPv6 host in brackets, not {text!r}")
    return Address(parts[1].strip("[]"), int(parts[2]))


def _is_host(text: str) -> bool:
    """Return whether the text is a name, or an IP address."""
    if _HOST.fullmatch(text.lower().removesuffix(".")):
        return True
    try:
        (IPv6Address if text.startswith("[") else IPv4Address)(text.strip("[]"))
    except AddressValueError:
        return False
    return True
