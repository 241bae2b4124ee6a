"""DNS: the records that a domain needs, and those that it has.

Only this module queries DNS, with dnspython's resolver.
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
from petstore.concurrency import call_in_thread
from petstore.extensions.hosting.models import DnsResult
from petstore.extensions.hosting.names import is_apex, is_public, registered
from petstore.settings import Address

TTL_SECONDS = 3600  # specification section 1
PROOF_LABEL = "_petstore"
MAX_CNAMES = 8
MAX_SHOWN_LENGTH = 200  # of the text about a TXT record
CAA = '0 issue "letsencrypt.org"'
# The names of Caddy's authorities in CAA records: Let's Encrypt, and ZeroSSL.
AUTHORITIES = {b"letsencrypt.org", b"sectigo.com"}
PROXY_ADVICE = (
    "If it is there already, a proxy of your provider hides it: switch it off "
    "(at Cloudflare, set the proxy status to DNS only)."
)
NO_SERVER = "The service has no DNS server; only its operators can put this right"
WHOSE = "Its DNS servers fail, or that of the service: check yours, or try later"
# Projects do not see names and addresses of the operator's own network.
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
        """The CNAME record, or ALIAS for an apex, and the TXT record."""
        kind = "ALIAS or ANAME" if is_apex(self.name) else "CNAME"
        return (
            Record(kind, self.name, self.target),
            Record("TXT", f"{PROOF_LABEL}.{self.name}", self.token),
        )


class Unanswered(Exception):
    """DNS gave no answer; the text says for which name, why, and what to do."""


class NotPublic(Exception):
    """The name in the text leads to a name of an internal DNS."""


def check_dns(required: RequiredRecords, servers: tuple[Address, ...]) -> DnsResult:
    """Check a domain in DNS, within `timeouts.LIMITS.dns_seconds`."""
    try:
        return _check(required, Lookup(servers))
    except Unanswered as reason:
        return DnsResult(None, f"{reason}.")
    except NotPublic as name:
        return DnsResult(False, f"{name} is an alias of {INTERNAL_NAME}.")


def _check(required: RequiredRecords, lookup: "Lookup") -> DnsResult:
    name, target, token = required
    alias, proof = required.records
    chain = _chain(name, target, lookup)
    shown = " → ".join(chain)
    if chain[-1] == target:
        return _verified(name, f"{shown}: the CNAME record is right.", lookup)
    if len(chain) > 1:
        advice = f"Change the CNAME record of {name} so that it points at {target}."
        return DnsResult(False, f"Found {shown}. {advice}")
    advice = f"Create the {alias.kind} record that points it at {target}"
    found = lookup.addresses(name)
    if not found:
        text = f"{name} has no {alias.kind} record yet, and no address. {advice}"
        return DnsResult(False, f"{text}; it may take an hour to be seen everywhere.")
    right = lookup.addresses(target, may_be_internal=True)
    if not right and is_apex(name):  # only the operator can repair this
        advice = "only the operators of the service can put this right"
        return DnsResult(None, f"{target} itself has no address in DNS; {advice}.")
    given = f"{name} has no {alias.kind} record, only {_shown(found)}"
    if not found <= right:
        if is_apex(name):
            given = f"{name} has {_shown(found)}, but {target} has {_shown(right)}"
        return DnsResult(False, f"{given}. {advice}. {PROXY_ADVICE}")
    texts = lookup.find(proof.name, "TXT")
    if token.encode() in (b"".join(text.strings).strip() for text in texts):
        proved = f"{name} has the addresses of {target}, and the TXT record."
        return _verified(name, proved, lookup)
    held = f", but the TXT record holds {texts[0]}"[:MAX_SHOWN_LENGTH] if texts else ""
    needed = f"a TXT record at {proof.name} that holds {token}"
    if is_apex(name):
        return DnsResult(False, f"The addresses are right{held}. Create {needed}.")
    hidden = f"if your provider shows addresses instead (CNAME flattening), {needed}"
    return DnsResult(False, f"{given}{held}. {advice}, or, {hidden}.")


def _verified(name: str, text: str, lookup: "Lookup") -> DnsResult:
    """Return that the domain is verified, with a warning if CAA forbids a certificate.

    The CAA records of the closest name apply (RFC 8659).
    """
    records: list[Any] = []
    with suppress(Unanswered):
        while name and not records:
            records = lookup.find(holder := name, "CAA", may_be_internal=True)
            name = name.partition(".")[2]
    values = [each.value for each in records if each.tag.lower() == b"issue"]
    issuers = {value.partition(b";")[0].strip().lower() for value in values}
    if issuers and not issuers & AUTHORITIES:
        forbid = f"The CAA records of {holder} allow no certificate of Let's Encrypt"
        text += f" {forbid} or ZeroSSL: create the CAA record {CAA} there too."
    return DnsResult(True, text)


def _chain(name: str, target: str, lookup: "Lookup") -> list[str]:
    """Return the domain and the names that its CNAME records lead through.

    The chain ends at the latest with a name that repeats, or that is not public.
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
    public = sorted(filter(_is_public_address, addresses))
    words = [f"the addresses {', '.join(public)}"] if public else []
    if len(public) < len(addresses):
        words.append(INTERNAL_ADDRESS)
    return " and ".join(words)


def _is_public_address(text: str) -> bool:
    address = ipaddress.ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_global


class Lookup:
    """Queries DNS for at most `timeouts.LIMITS.dns_seconds` in all.

    Raises `Unanswered` if neither the settings nor the system name a server.
    """

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._deadline = clock.monotonic() + timeouts.LIMITS.dns_seconds
        try:
            self._resolver = resolver = dns.resolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration:
            raise Unanswered(NO_SERVER) from None
        usual = [Address(str(each), resolver.port) for each in resolver.nameservers]
        resolver.nameservers = [*_nameservers(servers or usual)]
        if not resolver.nameservers:
            raise Unanswered(NO_SERVER)
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
            raise Unanswered(f"{name} was not resolved in time. {WHOSE}") from None
        except dns.exception.DNSException:
            answered = "was answered with an error, or with too much"
            raise Unanswered(f"{name} {answered}. {WHOSE}") from None
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


class BoundedNameserver(dns.nameserver.Do53Nameserver):
    """A DNS server whose answers over TCP are bounded, and parsed in a thread.

    An answer over UDP without EDNS has at most 512 bytes. Parsing 16 KiB may take a
    second, during which the worker would serve nobody.
    """

    def query(
        self, request: dns.message.QueryMessage, *args: Any, **kwargs: Any
    ) -> dns.message.Message:
        if not kwargs["max_size"]:  # dnspython's word for TCP
            return super().query(request, *args, **kwargs)
        try:
            wire = self._exchange(request.to_wire(prepend_length=True), **kwargs)
        except TimeoutError:
            raise dns.exception.Timeout from None
        response = call_in_thread(_parsed, wire)
        if response is None or not request.is_response(response):
            raise dns.exception.FormError
        return response

    def _exchange(self, query: bytes, timeout: float, **_: Any) -> bytes:
        ends = clock.monotonic() + timeout

        def receive(size: int) -> bytes:
            received = b""
            while len(received) < size:
                connection.settimeout(max(ends - clock.monotonic(), 0.001))
                if not (part := connection.recv(size - len(received))):
                    raise EOFError
                received += part
            return received

        with socket.create_connection((self.address, self.port), timeout) as connection:
            connection.sendall(query)
            size = int.from_bytes(receive(2))
            if size > timeouts.LIMITS.dns_bytes:
                raise dns.exception.FormError
            return receive(size)


def _parsed(wire: bytes) -> dns.message.Message | None:
    with suppress(Exception):  # gevent would print an exception of its thread
        return dns.message.from_wire(wire, raise_on_truncation=True)
    return None


def _nameservers(servers: Iterable[Address]) -> Iterator[BoundedNameserver]:
    for host, port in servers:
        with suppress(OSError):  # the other servers are still queried
            found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
            yield BoundedNameserver(str(found[0][4][0]), port)


def _text(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)
