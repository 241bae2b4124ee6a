"""Host routing, and whether DNS leads every project's subdomain somewhere."""

import secrets

from petstore.checks.findings import Finding
from petstore.domains.resolver import NoSuchName, Resolver, Unanswered
from petstore.settings import Settings

CHECK = "hosts"


def check(settings: Settings) -> Finding:
    """The base domain and any name below it must have the same addresses."""
    base = settings.base_domain
    if base is None:
        return Finding.ok(CHECK, "no PETSTORE_BASE_DOMAIN: every host is served")
    # Nobody has created a record for this name, so only a wildcard answers.
    some_project = f"check-{secrets.token_hex(4)}.{base}"
    resolver = Resolver(settings.dns_servers)
    try:
        own, below = _addresses(resolver, base), _addresses(resolver, some_project)
    except Unanswered as reason:
        return Finding.wrong(CHECK, f"{base} {reason}; look at its DNS servers")
    return _judged(base, own, below)


def _judged(base: str, own: set[str], below: set[str]) -> Finding:
    if not own:
        return Finding.wrong(
            CHECK, f"{base} has no address in DNS; point it at the TLS proxy"
        )
    if not below:
        return Finding.wrong(
            CHECK, f"*.{base} has no address in DNS; point it where {base} points"
        )
    if own != below:
        return Finding.warning(
            CHECK,
            f"{base} has the addresses {_list(own)}, but *.{base} has {_list(below)}; "
            "both must lead to the TLS proxy",
        )
    return Finding.ok(CHECK, f"{base} and *.{base} lead to {_list(own)}")


def _addresses(resolver: Resolver, name: str) -> set[str]:
    try:
        return resolver.addresses(name)
    except NoSuchName:
        return set()


def _list(addresses: set[str]) -> str:
    return ", ".join(sorted(addresses))
