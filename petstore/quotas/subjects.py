"""Subjects of quotas: a project over all its keys, one key, an address of a client.

What a request counts for together shares the part before the slash.
"""

import ipaddress

from petstore.models.callers import Caller

IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48


def project_subject(project_id: int) -> str:
    """Return the subject for a project."""
    return f"project:{project_id}"


def key_subject(project_id: int, key_id: int) -> str:
    """Return the subject for the limits of one key."""
    return f"project:{project_id}/key:{key_id}"


def address_subjects(what: str, address: str | None) -> list[str]:
    """Return the subjects for what comes from an address: for IPv6 its /64 and /48."""
    network, *site = _networks(address or "")
    if not site:
        return [f"{what}:{network}"]
    return [f"{what}:{site[0]}/{network}", f"{what}:{site[0]}"]


def sign_in_subject(caller: Caller) -> str:
    """Return the subject for sign-ins to the project of a caller."""
    return f"sign-ins:{caller.project_id}"


def pages_subject(caller: Caller) -> str:
    """Return the subject for the pages that the project of a caller opens."""
    return f"pages:{caller.project_id}"


def reserve_subject(caller: Caller) -> str:
    """Return the subject for the reserve of a caller's key."""
    return f"reserve:{caller.key_id}"


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
