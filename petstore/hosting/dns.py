"""DNS: the records that a domain has to have, and those that it has.

It is the only module that queries DNS, with dnspython's resolver.
"""

import ipaddress
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import dns.exception
import dns.message
import dns.name
import dns.nameserver
import dns.resolver

from petstore import clock, timeouts
from petstore.hosting.names import is_apex, is_public, proof_name, registered
from petstore.models.domains import DnsResult
from petstore.settings import Address

TTL_SECONDS = 3600  # specification section 1
MAX_CNAMES = 8
# What is internal to the operator's network is not shown to projects.
INTERNAL_NAME = "a name that is not public"
INTERNAL_ADDRESS = "an address that is not public"


class Record(NamedTuple):
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


class Unanswered(Exception):
    """DNS gave no answer; the text names what was not resolved, and why."""


class NotPublic(Exception):
    """The name, which is the text, is an alias of a name of an internal DNS."""


def check_dns(required: RequiredRecords, servers: tuple[Address, ...]) -> DnsResult:
    """Check a domain in DNS, within `timeouts.LIMITS.dns_seconds`."""
    try:
        return _check(required, Lookup(servers))
    except Unanswered as reason:
        advice = "check its DNS servers, or try again later"
        return DnsResult(None, f"{reason}; {advice}.")
    except NotPublic as name:
        return DnsResult(False, f"{name} is an alias of {INTERNAL_NAME}.")


def _check(required: RequiredRecords, lookup: "Lookup") -> DnsResult:
    name, target, token = required
    kind = required.records[0].kind
    chain = _chain(name, target, lookup)
    shown = " → ".join(chain)
    if chain[-1] == target:
        return DnsResult(True, f"{shown}: the CNAME record is right.")
    if len(chain) > 1:
        advice = f"Change the CNAME record of {name} so that it points at {target}."
        return DnsResult(False, f"Found {shown}. {advice}")
    advice = (
        f"Create the {kind} record that points it at {target}; a new record may take "
        "an hour to be seen everywhere."
    )
    found = lookup.addresses(name)
    if not (found and is_apex(name)):
        others = f", only {_shown(found)}" if found else " yet, and no address"
        return DnsResult(False, f"{name} has no {kind} record{others}. {advice}")
    right = lookup.addresses(target, may_be_internal=True)
    if not right:  # which is no fault of the domain's owner
        advice = "this is for the operators of the service to put right"
        return DnsResult(None, f"{target} itself has no address in DNS; {advice}.")
    if not found <= right:
        differ = f"{name} has {_shown(found)}, but {target} has {_shown(right)}"
        return DnsResult(False, f"{differ}. {advice}")
    texts = lookup.find(proof := proof_name(name), "TXT")
    if token.encode() in (b"".join(text.strings).strip() for text in texts):
        proved = f"{name} has the addresses of {target}, and the TXT record."
        return DnsResult(True, proved)
    held = f", but the TXT record holds {texts[0]}" if texts else ""
    advice = f"Create a TXT record at {proof} that holds {token}."
    return DnsResult(False, f"The addresses are right{held}. {advice}")


def _chain(name: str, target: str, lookup: "Lookup") -> list[str]:
    """Return the names that CNAME records lead through, the domain's own first.

    The chain ends where it leads back to itself, or to a name that is not public.
    """
    chain = [name]
    while len(chain) <= MAX_CNAMES and chain[-1] not in (target, *chain[:-1]):
        records = lookup.find(chain[-1], "CNAME")
        if not records:
            break
        following = _text(records[0].target)
        if following != target and not is_public(following):
            return [*chain, INTERNAL_NAME]
        chain.append(following)
    return chain


def _shown(addresses: set[str]) -> str:
    public = [text for text in sorted(addresses) if _is_public_address(text)]
    words = [f"the addresses {', '.join(public)}"] if public else []
    if len(public) < len(addresses):
        words.append(INTERNAL_ADDRESS)
    return " and ".join(words)


def _is_public_address(text: str) -> bool:
    address = ipaddress.ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_global


class Lookup:
    """Queries DNS for at most `timeouts.LIMITS.dns_seconds` in all.

    Raises `Unanswered` where neither the settings nor the system name a server.
    """

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._deadline = clock.monotonic() + timeouts.LIMITS.dns_seconds
        try:
            self._resolver = resolver = dns.resolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration:
            raise Unanswered("This machine names no DNS server") from None
        usual = [Address(str(each), resolver.port) for each in resolver.nameservers]
        resolver.nameservers = [*_nameservers(servers or usual)]
        resolver.timeout = timeouts.LIMITS.dns_server_seconds
        resolver.use_edns(False)

    def find(self, name: str, kind: str, *, may_be_internal: bool = False) -> list[Any]:
        """Return dnspython's records of a name; raises `Unanswered` and `NotPublic`."""
        answer: dns.resolver.Answer | dns.resolver.NXDOMAIN
        try:
            answer = self._resolver.resolve(
                f"{name}.",
                kind,
                raise_on_no_answer=False,
                lifetime=self._deadline - clock.monotonic(),
            )
        except dns.resolver.NXDOMAIN as no_such_name:
            answer = no_such_name
        except dns.exception.Timeout:
            raise Unanswered(f"{name} was not resolved in time") from None
        except dns.exception.DNSException:
            raise Unanswered(
                f"{name} has DNS servers that answer with an error, or with too much"
            ) from None
        end = _text(answer.canonical_name)
        if not (may_be_internal or end == name or is_public(end)):
            raise NotPublic(name)
        return list(getattr(answer, "rrset", None) or ())

    def addresses(self, name: str, *, may_be_internal: bool = False) -> set[str]:
        return {
            record.address
            for kind in ("A", "AAAA")
            for record in self.find(name, kind, may_be_internal=may_be_internal)
        }


class UdpNameserver(dns.nameserver.Do53Nameserver):
    """A DNS server whose answers have at most the 512 bytes of UDP without EDNS.

    To parse the 64 KB of an answer over TCP may take ten seconds, during which a worker
    does nothing else.
    """

    def query(self, *args: Any, **kwargs: Any) -> dns.message.Message:
        if kwargs["max_size"]:
            raise dns.exception.FormError
        return super().query(*args, **kwargs)


def _nameservers(servers: Iterable[Address]) -> Iterator[UdpNameserver]:
    for host, port in servers:
        with suppress(OSError):  # the others are queried
            found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
            yield UdpNameserver(str(found[0][4][0]), port)


def _text(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)
