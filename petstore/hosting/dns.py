"""The DNS records of a domain: which are required, and what a check has found."""

import ipaddress
from typing import NamedTuple

from petstore.hosting.lookup import Lookup, NotPublic, Unanswered
from petstore.hosting.names import is_apex, is_public, proof_name, registered
from petstore.models.domains import DnsResult
from petstore.settings import Address

TTL_SECONDS = 3600  # specification section 1
MAX_CNAMES = 8
SHOWN_LENGTH = 80
SHOWN_ADDRESSES = 4
# What is internal to the operator's network is not shown to projects.
INTERNAL_NAME = "a name that is not public"
INTERNAL_ADDRESS = "an address that is not public"


class Record(NamedTuple):
    """A record that the owner of a domain has to create."""

    kind: str
    name: str
    value: str
    ttl: int = TTL_SECONDS

    @property
    def label(self) -> str:
        """The name relative to its zone, as most DNS providers ask for it."""
        zone = registered(self.name)
        return "@" if self.name == zone else self.name.removesuffix(f".{zone}")


class RequiredRecords(NamedTuple):
    """What DNS has to contain before a domain is verified."""

    name: str
    target: str  # the project's generated subdomain
    token: str

    @property
    def records(self) -> tuple[Record, ...]:
        """A CNAME record; for an apex, which cannot have one, ALIAS and TXT."""
        if not is_apex(self.name):
            return (Record("CNAME", self.name, self.target),)
        return (
            Record("ALIAS or ANAME", self.name, self.target),
            Record("TXT", proof_name(self.name), self.token),
        )

    @property
    def advice(self) -> str:
        """What to do where the domain leads nowhere."""
        return (
            f"Create the {self.records[0].kind} record that points it at {self.target}"
        )


def check_dns(required: RequiredRecords, servers: tuple[Address, ...]) -> DnsResult:
    """Check a domain in DNS, within `timeouts.LIMITS.dns_seconds`."""
    try:
        return _check(required, Lookup(servers))
    except Unanswered as reason:
        advice = "check its DNS servers, or try again later"
        return DnsResult(None, f"{reason}; {advice}.")
    except NotPublic as name:
        return DnsResult(False, f"{name} is an alias of {INTERNAL_NAME}.")


def _check(required: RequiredRecords, lookup: Lookup) -> DnsResult:
    name, target, token = required
    chain = _chain(required, lookup)
    if not chain:
        return DnsResult(
            False,
            f"DNS does not know {name} yet. {required.advice}; "
            "a new record may take an hour to be seen everywhere.",
        )
    shown = " → ".join(chain)
    if chain[-1] == target:
        return DnsResult(True, f"{shown}: the CNAME record is right.")
    if len(chain) > 1:
        advice = f"Change the CNAME record of {name} so that it points at {target}."
        return DnsResult(False, f"Found {shown}. {advice}")
    found = lookup.addresses(name)
    if not is_apex(name):
        only = f", only {_some(found)}" if found else ""
        text = f"{name} has no CNAME record{only}. {required.advice}."
        return DnsResult(False, text)
    right = lookup.addresses(target, may_be_internal=True)
    if not right:  # which is no fault of the domain's owner
        advice = "this is for the operators of the service to put right"
        return DnsResult(None, f"{target} itself has no address in DNS; {advice}.")
    if not found:
        return DnsResult(False, f"{name} has no address. {required.advice}.")
    if not found <= right:
        return DnsResult(
            False,
            f"{name} has {_some(found)}, but {target} has {_some(right)}. "
            f"{required.advice} in place of what is there.",
        )
    texts = lookup.find(proof_name(name), "TXT") or []
    if token in texts:
        return DnsResult(
            True, f"{name} has the addresses of {target}, and the TXT record."
        )
    holds = f", but the TXT record holds {_quoted(texts[0])}" if texts else ""
    advice = f"Create a TXT record at {proof_name(name)} that holds {token}"
    return DnsResult(False, f"The addresses are right{holds}. {advice}.")


def _chain(required: RequiredRecords, lookup: Lookup) -> list[str]:
    """Return the names that CNAME records lead through; none if DNS knows no such name.

    The chain ends where it leads back to itself, or to a name that is not public.
    """
    chain = [required.name]
    while len(chain) <= MAX_CNAMES and chain[-1] not in (required.target, *chain[:-1]):
        found = lookup.find(chain[-1], "CNAME")
        if found is None and len(chain) == 1:
            return []
        if not found:
            break
        if found[0] != required.target and not is_public(found[0]):
            return [*chain, INTERNAL_NAME]
        chain.append(found[0])
    return chain


def _some(addresses: set[str]) -> str:
    public = sorted(filter(_is_public_address, addresses))
    shown = public[:SHOWN_ADDRESSES] + ["…"] * (len(public) > SHOWN_ADDRESSES)
    words = [f"the addresses {', '.join(shown)}"] if public else []
    if len(public) < len(addresses):
        words.append(INTERNAL_ADDRESS)
    return " and ".join(words)


def _is_public_address(text: str) -> bool:
    address = ipaddress.ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_global


def _quoted(text: str) -> str:
    short = text[:SHOWN_LENGTH]
    return "“" + "".join(c if c.isprintable() else "�" for c in short) + "”"
