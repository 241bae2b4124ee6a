"""Who is counted: a project over all its keys, or the address of a stranger."""

import ipaddress
from typing import NamedTuple

from petstore.models.callers import Caller

IPV6_SITE_BITS = 64
USAGE_KEPT_DAYS = 31
STRANGER_KEPT_DAYS = 1


class Subject(NamedTuple):
    """A name in the counter store, and how long its days are of use afterwards."""

    name: str
    kept_days: int


def subject_of(caller: Caller | None, address: str | None) -> Subject:
    """The project of a caller, else the client address (IPv6: its /64)."""
    if caller is not None:
        return Subject(f"project:{caller.project_id}", USAGE_KEPT_DAYS)
    return Subject(f"address:{_site(address or '')}", STRANGER_KEPT_DAYS)


def sign_in_subject(address: str | None) -> Subject:
    """The same address as one that fails to sign in, counted apart from its calls."""
    return Subject(f"sign-in:{_site(address or '')}", STRANGER_KEPT_DAYS)


def project_sign_in_subject(caller: Caller) -> Subject:
    """The project of a caller, as one that people sign in to."""
    return Subject(f"sign-ins:{caller.project_id}", STRANGER_KEPT_DAYS)


def session_subject(digest: str) -> Subject:
    """A session of the dashboard, by the digest of its token."""
    return Subject(f"session:{digest}", STRANGER_KEPT_DAYS)


def _site(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has none, and a proxy may write anything
        return "unknown"
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    site = ipaddress.ip_network((ip, IPV6_SITE_BITS), strict=False)
    return str(site.network_address)
