"""Names of domains: normalised, or refused if they cannot be used."""

import functools
import ipaddress
import re

import idna
from publicsuffixlist import PublicSuffixList

from petstore.models.domains import DomainRefused

MAX_NAME_LENGTH = 253  # RFC 1035 section 2.3.4, without the dot of the root
PROOF_LABEL = "_petstore"
A_LABEL = "xn--"

_PLAIN_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def normalised(text: str, base_domain: str) -> str:
    """Return the name in lower case and A-labels, without a trailing dot.

    Raises `DomainRefused` with a sentence that says what to do.
    """
    typed = text.strip()
    _require_plain_name(typed)
    name = _ascii(typed).removesuffix(".")
    _refuse_address(name)
    if name == base_domain or name.endswith(f".{base_domain}"):
        raise DomainRefused(
            f"{name} belongs to this service; enter a domain that you have registered."
        )
    if _suffixes().is_public(name):
        raise DomainRefused(
            f"{name} is a public suffix that nobody owns as a whole; "
            f"enter a name below it, like shop.{name}."
        )
    return name


def is_apex(name: str) -> bool:
    """Return whether the name is directly below a public suffix."""
    return _suffixes().privatesuffix(name) == name


def registered(name: str) -> str:
    """Return the apex of the name: the part that its owner has registered."""
    return _suffixes().privatesuffix(name) or name


def proof_name(name: str) -> str:
    """Return the name of the TXT record that proves an apex domain."""
    return f"{PROOF_LABEL}.{name}"


def readable(name: str) -> str:
    """Return the name in Unicode, as its owner writes it."""
    labels = name.split(".")
    return ".".join(idna.ulabel(x) if x.startswith(A_LABEL) else x for x in labels)


def _require_plain_name(typed: str) -> None:
    if not typed:
        raise DomainRefused("Enter a domain, like shop.example.org.")
    if "*" in typed:
        raise DomainRefused(
            "A wildcard cannot be added; enter each name by itself, "
            "like shop.example.org."
        )
    _refuse_address(typed)
    if re.search(r"[/:@?#]", typed):
        raise DomainRefused(
            "Enter the name alone, without https://, port and path, "
            "like shop.example.org."
        )


def _refuse_address(text: str) -> None:
    if _is_address(text):
        raise DomainRefused(
            "An IP address is not a domain; enter a name, like shop.example.org."
        )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        # Browsers take a name that ends in a number for an address.
        return bool(re.search(r"(^|\.)(0x[0-9a-f]*|[0-9]+)\.?$", text, re.IGNORECASE))
    return True


def _ascii(typed: str) -> str:
    # A longer name is not valid, and normalising it would take long.
    if len(typed) <= MAX_NAME_LENGTH + 1:
        try:
            mapped = idna.uts46_remap(typed, std3_rules=True)
            name = ".".join(map(_a_label, mapped.removesuffix(".").split(".")))
            if len(name) <= MAX_NAME_LENGTH:
                return name
        except idna.IDNAError:
            pass  # refused below
    raise DomainRefused(
        "This is not a valid domain name: its parts have 1 to 63 letters, digits and "
        "inner hyphens, with dots between them, like shop.example.org."
    )


def _a_label(label: str) -> str:
    # IDNA refuses some names that are in use, like r3---a.example.org.
    if _PLAIN_LABEL.fullmatch(label) and not label.startswith(A_LABEL):
        return label
    return idna.alabel(label).decode()


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
