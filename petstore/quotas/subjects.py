"""Subjects of quotas: a project over all its keys, one key, an address of a client."""

import ipaddress
from typing import NamedTuple

from petstore.models.callers import Caller

IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48
USAGE_KEPT_DAYS = 31
COUNTS_KEPT_DAYS = 1


class Subject(NamedTuple):
    """A name in the counter store, and for how many days its counts are kept."""

    name: str
    kept_days: int


def project_subject(project_id: int) -> Subject:
    """Return the subject for a project."""
    return Subject(f"project:{project_id}", USAGE_KEPT_DAYS)


def key_subject(key_id: int) -> Subject:
    """Return the subject for the limits of one key."""
    return Subject(f"key:{key_id}", COUNTS_KEPT_DAYS)


def address_subjects(what: str, address: str | None) -> list[Subject]:
    """Return the subjects for what comes from an address: for IPv6 its /64 and /48."""
    networks = _networks(address or "")
    return [Subject(f"{what}:{network}", COUNTS_KEPT_DAYS) for network in networks]


def sign_in_subject(caller: Caller) -> Subject:
    """Return the subject for sign-ins to the project of a caller."""
    return Subject(f"sign-ins:{caller.project_id}", COUNTS_KEPT_DAYS)


def pages_subject(caller: Caller) -> Subject:
    """Return the subject for the pages that the project of a caller opens."""
    return Subject(f"pages:{caller.project_id}", COUNTS_KEPT_DAYS)


def reserve_subject(caller: Caller) -> Subject:
    """Return the subject for the reserve of a caller's key."""
    return Subject(f"reserve:{caller.key_id}", COUNTS_KEPT_DAYS)


def _networks(address: str) -> list[str]:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has no address; a proxy may send anything
        return ["unknown"]
    if ip.version == 4:
        return [str(ip)]
    if ip.ipv4_mapped:
        return [str(ip.ipv4_mapped)]
    network = ipaddress.ip_network((ip, IPV6_NETWORK_BITS), strict=False)
    site = network.supernet(new_prefix=IPV6_SITE_BITS)
    return [str(network.network_address), str(site)]
