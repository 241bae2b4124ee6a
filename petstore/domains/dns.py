"""Checks of a domain in DNS, whose results say what was found and what to change."""

from dataclasses import dataclass

from petstore.addresses import Address
from petstore.domains.names import is_apex, proof_name
from petstore.domains.records import RequiredRecords
from petstore.domains.resolver import NoSuchName, Resolver, Unanswered

MAX_CNAMES = 8
SHOWN_LENGTH = 80
SHOWN_ADDRESSES = 4


@dataclass(frozen=True, slots=True)
class DnsResult:
    """Whether DNS proves the domain, and a sentence for its owner."""

    is_proved: bool
    text: str


class _Unproved(Exception):
    """DNS does not contain what is required; the text is for the domain's owner."""


def check_dns(required: RequiredRecords, servers: tuple[Address, ...]) -> DnsResult:
    """Check a domain in DNS, within `resolver.CHECK_SECONDS`."""
    resolver = Resolver(servers)
    try:
        return DnsResult(True, _proof(resolver, required))
    except _Unproved as reason:
        return DnsResult(False, str(reason))


def _proof(resolver: Resolver, required: RequiredRecords) -> str:
    chain = _chain(resolver, required)
    if chain[-1] == required.target:
        return f"{_arrows(chain)}: the CNAME record is right."
    if len(chain) > 1:
        raise _Unproved(
            f"Found {_arrows(chain)}. Change the CNAME record of {required.name} "
            f"so that it points at {required.target}."
        )
    if not is_apex(required.name):
        raise _Unproved(_missing_cname(resolver, required))
    _require_addresses(resolver, required)
    _require_token(resolver, required)
    return (
        f"{required.name} has the addresses of {required.target}, and the TXT record."
    )


def _chain(resolver: Resolver, required: RequiredRecords) -> list[str]:
    """Return the names that the CNAME records lead through, the domain first."""
    chain = [required.name]
    while chain[-1] != required.target:
        cname = _cname(resolver, required, chain)
        if cname is None:
            break
        if cname in chain or len(chain) > MAX_CNAMES:
            fault = "runs in a circle" if cname in chain else "is too long"
            raise _Unproved(
                f"The CNAME chain {fault}: {_arrows([*chain, cname])}. "
                f"Point {required.name} at {required.target} directly."
            )
        chain.append(cname)
    return chain


def _cname(
    resolver: Resolver, required: RequiredRecords, chain: list[str]
) -> str | None:
    try:
        return resolver.cname(chain[-1])
    except NoSuchName:
        if len(chain) == 1:
            raise _Unproved(
                f"DNS does not know {required.name} yet. {_advice(required)}; "
                "a new record may take an hour to be seen everywhere."
            ) from None
        raise _Unproved(
            f"Found {_arrows(chain)}, which does not exist. "
            f"Point {required.name} at {required.target}."
        ) from None
    except Unanswered as reason:
        raise _unanswered(chain[-1], reason) from None


def _missing_cname(resolver: Resolver, required: RequiredRecords) -> str:
    found = _addresses(resolver, required.name)
    if not found:
        return f"{required.name} has no CNAME record. {_advice(required)}."
    return (
        f"{required.name} has no CNAME record, only the addresses {_some(found)}. "
        f"{_advice(required)} instead."
    )


def _require_addresses(resolver: Resolver, required: RequiredRecords) -> None:
    found = _addresses(resolver, required.name)
    right = _addresses(resolver, required.target)
    if not right:
        raise _Unproved(
            f"{required.target} itself has no address in DNS; "
            "this is for the operators of the service to put right."
        )
    if not found:
        raise _Unproved(f"{required.name} has no address. {_advice(required)}.")
    if not found <= right:
        raise _Unproved(
            f"{required.name} has the addresses {_some(found)}, "
            f"but {required.target} has {_some(right)}. "
            f"{_advice(required)} in place of what is there."
        )


def _require_token(resolver: Resolver, required: RequiredRecords) -> None:
    name = proof_name(required.name)
    advice = f"Create a TXT record at {name} that holds {required.token}"
    try:
        texts = resolver.texts(name)
    except NoSuchName:
        texts = []
    except Unanswered as reason:
        raise _unanswered(name, reason) from None
    if not texts:
        raise _Unproved(f"The addresses are right. {advice}.")
    if required.token not in texts:
        raise _Unproved(
            f"The addresses are right, but the TXT record holds {_shown(texts[0])}. "
            f"{advice}."
        )


def _addresses(resolver: Resolver, name: str) -> set[str]:
    try:
        return resolver.addresses(name)
    except NoSuchName:
        return set()
    except Unanswered as reason:
        raise _unanswered(name, reason) from None


def _unanswered(name: str, reason: Unanswered) -> _Unproved:
    return _Unproved(f"{name} {reason}; check its DNS servers, or try again later.")


def _advice(required: RequiredRecords) -> str:
    record = required.records[0]
    return f"Create the {record.kind} record that points it at {required.target}"


def _arrows(chain: list[str]) -> str:
    return " → ".join(chain)


def _some(addresses: set[str]) -> str:
    shown = sorted(addresses)[:SHOWN_ADDRESSES]
    return ", ".join(shown) + (", …" if len(addresses) > len(shown) else "")


def _shown(text: str) -> str:
    short = text[:SHOWN_LENGTH]
    return "“" + "".join(c if c.isprintable() else "�" for c in short) + "”"
