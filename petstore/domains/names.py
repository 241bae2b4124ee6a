"""Names of domains: brought into one spelling, refused where they cannot be used."""

import functools
import ipaddress
import re

import idna
from publicsuffixlist import PublicSuffixList

from petstore.models.domains import DomainRefused

MAX_NAME_LENGTH = 253  # RFC 1035 section 2.3.4, the root's dot aside
PROOF_LABEL = "_petstore"
A_LABEL = "xn--"

_PLAIN_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def normalised(text: str, base_domain: str) -> str:
    """The name in lower case and A-labels, without the dot at its end.

    Raises `DomainRefused` with a sentence that says what to do.
    """
    typed = text.strip()
    _refuse_other_things(typed)
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
    """Whether the name is the one that its owner registered."""
    return registered(name) == name


def registered(name: str) -> str:
    """What the owner registered, directly below a public suffix."""
    return _suffixes().privatesuffix(name)


def proof_name(name: str) -> str:
    """Where the TXT record of an apex domain is expected."""
    return f"{PROOF_LABEL}.{name}"


def readable(name: str) -> str:
    """The name as its owner writes it, with its own letters."""
    labels = name.split(".")
    return ".".join(idna.ulabel(x) if x.startswith(A_LABEL) else x for x in labels)


def _refuse_other_things(typed: str) -> None:
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
            "An IP address is no domain; enter a name, like shop.example.org."
        )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        # What ends in a number is an address to a browser, however it is written.
        return bool(re.search(r"(^|\.)(0x[0-9a-f]*|[0-9]+)\.?$", text, re.IGNORECASE))
    return True


def _ascii(typed: str) -> str:
    # Beyond this length no name is valid, and to look closer would take long.
    if len(typed) <= MAX_NAME_LENGTH + 1:
        try:
            mapped = idna.uts46_remap(typed, std3_rules=True)
            name = ".".join(map(_a_label, mapped.removesuffix(".").split(".")))
            if len(name) <= MAX_NAME_LENGTH:
                return name
        except idna.IDNAError:
            pass  # said below
    raise DomainRefused(
        "This is not a valid domain name: its parts have 1 to 63 letters, digits and "
        "inner hyphens, with dots between them, like shop.example.org."
    )


def _a_label(label: str) -> str:
    # IDNA refuses some names that are in use for good, like r3---a.example.org.
    if _PLAIN_LABEL.fullmatch(label) and not label.startswith(A_LABEL):
        return label
    return idna.alabel(label).decode()


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
