"""Domains and addresses of servers, as settings give them; '' stands for none."""

import re
from typing import NamedTuple

MAX_PORT = 65_535

_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
# The last label is no number, so an address is no domain; a slug of 63 goes before it.
_DOMAIN = re.compile(rf"(?=.{{1,189}}$)({_LABEL}\.)*(?![0-9]+$){_LABEL}")
_ADDRESS = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):([1-9][0-9]{0,4})")


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def domain(text: str) -> str | None:
    """A domain in lower case; raises ValueError with what it must be."""
    name = text.lower().removesuffix(".")
    if text and not _DOMAIN.fullmatch(name):
        raise ValueError(
            "must be a domain like pets.example.org, without scheme and port, "
            f"not {text!r}"
        )
    return name or None


def address(text: str) -> Address | None:
    """One `host:port`; raises ValueError with what it must be."""
    return _address(text) if text else None


def addresses(text: str) -> tuple[Address, ...]:
    """Any number of `host:port`, separated by commas; raises ValueError."""
    return tuple(_address(part.strip()) for part in text.split(",")) if text else ()


def _address(text: str) -> Address:
    parts = _ADDRESS.fullmatch(text)
    if parts is None or int(parts[2]) > MAX_PORT:
        raise ValueError(f"must be host:port, an IPv6 host in brackets, not {text!r}")
    return Address(parts[1].strip("[]"), int(parts[2]))
