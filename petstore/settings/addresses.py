"""Domains and host:port addresses in settings, checked."""

import re
from typing import NamedTuple

MAX_PORT = 65_535

_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
# The last label is not a number, so an IP address is not a domain. A slug of 63
# characters must fit in front.
_DOMAIN = re.compile(rf"(?=.{{1,189}}$)({_LABEL}\.)*(?![0-9]+$){_LABEL}")
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
    if parts is None or int(parts[2]) > MAX_PORT:
        raise ValueError(f"must be host:port, an IPv6 host in brackets, not {text!r}")
    return Address(parts[1].strip("[]"), int(parts[2]))
