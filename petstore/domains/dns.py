"""What DNS says of a domain, in plain words: what was found and what to change."""

from dataclasses import dataclass

from petstore.addresses import Address
from petstore.domains.names import is_apex, proof_name
from petstore.domains.records import Wanted
from petstore.domains.resolver import NoSuchName, Resolver, Unanswered

MAX_LINKS = 8
SHOWN_LENGTH = 80
SHOWN_ADDRESSES = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether DNS proves the domain, and what it says."""

    is_proved: bool
    text: str


class _Unproved(Exception):
    """DNS says something else than wanted; the text is for the domain's owner."""


def look(wanted: Wanted, servers: tuple[Address, ...]) -> Finding:
    """Ask DNS about a domain; no answer takes longer than `LOOK_SECONDS`."""
    resolver = Resolver(servers)
    try:
        return Finding(True, _proof(resolver, wanted))
    except _Unproved as reason:
        return Finding(False, str(reason))


def _proof(resolver: Resolver, wanted: Wanted) -> str:
    chain = _chain(resolver, wanted)
    if chain[-1] == wanted.target:
        return f"{_arrows(chain)}: the CNAME record is right."
    if len(chain) > 1:
        raise _Unproved(
            f"Found {_arrows(chain)}. Change the CNAME record of {wanted.name} "
            f"so that it points at {wanted.target}."
        )
    if not is_apex(wanted.name):
        raise _Unproved(_no_link(resolver, wanted))
    _require_addresses(resolver, wanted)
    _require_token(resolver, wanted)
    return f"{wanted.name} has the addresses of {wanted.target}, and the TXT record."


def _chain(resolver: Resolver, wanted: Wanted) -> list[str]:
    """The names that CNAME records lead through, the domain first."""
    chain = [wanted.name]
    while chain[-1] != wanted.target:
        link = _link(resolver, wanted, chain)
        if link is None:
            break
        if link in chain or len(chain) > MAX_LINKS:
            fault = "runs in a circle" if link in chain else "is too long"
            raise _Unproved(
                f"The CNAME chain {fault}: {_arrows([*chain, link])}. "
                f"Point {wanted.name} at {wanted.target} directly."
            )
        chain.append(link)
    return chain


def _link(resolver: Resolver, wanted: Wanted, chain: list[str]) -> str | None:
    try:
        return resolver.link(chain[-1])
    except NoSuchName:
        if len(chain) == 1:
            raise _Unproved(
                f"DNS does not know {wanted.name} yet. {_advice(wanted)}; "
                "a new record may take an hour to be seen everywhere."
            ) from None
        raise _Unproved(
            f"Found {_arrows(chain)}, which does not exist. "
            f"Point {wanted.name} at {wanted.target}."
        ) from None
    except Unanswered as reason:
        raise _unanswered(chain[-1], reason) from None


def _no_link(resolver: Resolver, wanted: Wanted) -> str:
    found = _addresses(resolver, wanted.name)
    instead = f", only the addresses {_some(found)}" if found else ""
    return f"{wanted.name} has no CNAME record{instead}. {_advice(wanted)} instead."


def _require_addresses(resolver: Resolver, wanted: Wanted) -> None:
    found = _addresses(resolver, wanted.name)
    right = _addresses(resolver, wanted.target)
    if not right:
        raise _Unproved(
            f"{wanted.target} itself has no address in DNS; "
            "this is for the operators of the service to put right."
        )
    if not found:
        raise _Unproved(f"{wanted.name} has no address. {_advice(wanted)}.")
    if not found <= right:
        raise _Unproved(
            f"{wanted.name} has the addresses {_some(found)}, but {wanted.target} has "
            f"{_some(right)}. {_advice(wanted)} in place of what is there."
        )


def _require_token(resolver: Resolver, wanted: Wanted) -> None:
    place = proof_name(wanted.name)
    advice = f"Create a TXT record at {place} that holds {wanted.token}"
    try:
        texts = resolver.texts(place)
    except NoSuchName:
        texts = []
    except Unanswered as reason:
        raise _unanswered(place, reason) from None
    if not texts:
        raise _Unproved(f"The addresses are right. {advice}.")
    if wanted.token not in texts:
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


def _advice(wanted: Wanted) -> str:
    record = wanted.records[0]
    return f"Create the {record.kind} record that points it at {wanted.target}"


def _arrows(chain: list[str]) -> str:
    return " → ".join(chain)


def _some(addresses: set[str]) -> str:
    shown = sorted(addresses)[:SHOWN_ADDRESSES]
    return ", ".join(shown) + (", …" if len(addresses) > len(shown) else "")


def _shown(text: str) -> str:
    short = text[:SHOWN_LENGTH]
    return "“" + "".join(c if c.isprintable() else "�" for c in short) + "”"
