"""Names of domains: normalised, or refused if they cannot be used."""

import functools
import re
from contextlib import suppress

import idna
from publicsuffixlist import PublicSuffixList

from petstore.extensions.hosting.models import DomainNotAllowed
from petstore.settings import LABEL

MAX_NAME_LENGTH = 253  # RFC 1035 section 2.3.4, without the dot of the root
A_LABEL = "xn--"
# Characters around an address that people paste from a browser or a mail.
AROUND = " \t\r\n\xa0\u3000\u200b\u2060\ufeff<>\"'"
AROUND_HOST = re.compile("(?is)^https?://|:[0-9]+(?=[/?#]|$)|[/?#].*")
# Browsers take a name that ends in a number for an IP address.
ADDRESS = re.compile(r"(^|\.)(0x[0-9a-f]*|[0-9]+)$")
# Nobody can register a name below these (RFC 6761 and IANA's registry of names for
# special use). DNS has ordinary names such as example.org, so they are not here.
SPECIAL_USE = (
    *("alt", "arpa", "example", "internal", "invalid"),
    *("local", "localhost", "onion", "test"),
)


@functools.cache
def suffixes() -> PublicSuffixList:
    """Return the Public Suffix List; the first call reads it, which takes long."""
    return PublicSuffixList()


def normalised(text: str, base_domain: str) -> str:
    """Return the domain name in a text, in lower case and A-labels.

    Raises `DomainNotAllowed`.
    """
    name = _ascii(AROUND_HOST.sub("", text.strip(AROUND)))
    if name == base_domain or name.endswith(f".{base_domain}"):
        raise DomainNotAllowed(
            f"{name} belongs to this service; enter a domain that you have registered."
        )
    if _is_special(name):
        raise DomainNotAllowed(
            f"{name} is for special use, so nobody can own it; "
            "enter a domain that you have registered."
        )
    if suffixes().is_public(name):
        raise DomainNotAllowed(
            f"{name} is a public suffix that nobody owns as a whole; "
            f"enter a name below it, like shop.{name}."
        )
    return name


def registered(name: str) -> str:
    """Return the apex of the name: the part that its owner has registered."""
    return suffixes().privatesuffix(name) or name


def is_apex(name: str) -> bool:
    """Return whether the name is directly below a public suffix."""
    return registered(name) == name


def is_public(name: str) -> bool:
    """Return whether the public DNS may have the name."""
    is_known = suffixes().publicsuffix(name, accept_unknown=False) is not None
    return is_known and not _is_special(name)


def readable(name: str) -> str:
    """Return the name in Unicode, as its owner writes it."""
    labels = name.split(".")
    return ".".join(idna.ulabel(x) if x.startswith(A_LABEL) else x for x in labels)


def _is_special(name: str) -> bool:
    return name.rpartition(".")[2] in SPECIAL_USE


def _ascii(typed: str) -> str:
    # Normalising a longer name, which is not valid anyway, would take long.
    if len(typed) <= MAX_NAME_LENGTH + 1:
        with suppress(idna.IDNAError):
            mapped = idna.uts46_remap(typed, std3_rules=True).removesuffix(".")
            name = ".".join(map(_a_label, mapped.split(".")))
            if len(name) <= MAX_NAME_LENGTH and not ADDRESS.search(name):
                return name
    raise DomainNotAllowed(
        "This is not a valid domain name. Enter the name alone, like shop.example.org: "
        "no IP address, and no wildcard. Its parts have 1 to 63 letters, digits and "
        "inner hyphens, with dots between them."
    )


def _a_label(label: str) -> str:
    # IDNA refuses some names that are in use, like r3---a.example.org.
    if re.fullmatch(LABEL, label) and not label.startswith(A_LABEL):
        return label
    return idna.alabel(label).decode()
