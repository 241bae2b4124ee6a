"""Origins of web pages, in the one way in which browsers write each."""

import re

import idna

from petstore.models import RuleError
from petstore.settings import address

MAX_LENGTH = 300
DEFAULT_PORTS = {"http": 80, "https": 443}
_ORIGIN = re.compile(r"(https?)://([^/?#@:\[\]]+|\[[^/?#@\[\]]+\])(?::([0-9]+))?")


class InvalidOrigin(RuleError):
    """The text, whose beginning the message repeats, is not the origin of a page."""

    text = (
        "{!r:.200} is not an origin; write scheme, host and port alone, "
        "like https://shelter.example or http://localhost:8080."
    )


def normal_origin(text: str) -> str:
    """Return an origin as browsers send it: in lower case, without a default port.

    Raises `InvalidOrigin`.
    """
    parts = _ORIGIN.fullmatch(text.lower()) if len(text) <= MAX_LENGTH else None
    if parts is None:
        raise InvalidOrigin(text)
    scheme, host, port = parts.groups()
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
        number = address(f"{name}:{port or DEFAULT_PORTS[scheme]}").port
    except ValueError:
        raise InvalidOrigin(text) from None
    is_default = number == DEFAULT_PORTS[scheme]
    return f"{scheme}://{name}" if is_default else f"{scheme}://{name}:{number}"


def is_one_of(origin: str, origins: str) -> bool:
    """Return whether an origin is among these, which are separated by spaces."""
    try:
        return normal_origin(origin) in origins.split()
    except InvalidOrigin:
        return False
