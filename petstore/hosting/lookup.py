"""The only module that queries DNS: dnspython's resolver, with bounded answers."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import dns.exception
import dns.inet
import dns.message
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver
import dns.wire

from petstore import clock, timeouts
from petstore.hosting.names import is_public
from petstore.settings import Address

ALIASES = (dns.rdatatype.CNAME, dns.rdatatype.DNAME)
KINDS = (*ALIASES, dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.TXT)


class Unanswered(Exception):
    """DNS gave no answer; the text names what was not resolved, and why."""


class NotPublic(Exception):
    """The name, which is the text, is an alias of a name of an internal DNS."""


class Lookup:
    """Queries DNS for at most `timeouts.LIMITS.dns_seconds` in all."""

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._servers = servers
        self._deadline = clock.monotonic() + timeouts.LIMITS.dns_seconds

    def find(
        self, name: str, kind: str, *, may_be_internal: bool = False
    ) -> list[str] | None:
        """Return the contents of a name's records; None if it does not exist.

        Raises `Unanswered`, and `NotPublic` unless an alias may lead to an internal
        name.
        """
        answer = self._resolve(name, kind)
        end = _name(answer.canonical_name)
        if not (may_be_internal or end == name or is_public(end)):
            raise NotPublic(name)
        if isinstance(answer, dns.resolver.NXDOMAIN):
            return None
        return [_content(record) for record in answer.rrset or ()]

    def addresses(self, name: str, *, may_be_internal: bool = False) -> set[str]:
        """Return the IPv4 and IPv6 addresses of a name; see `find`."""
        found = [
            self.find(name, kind, may_be_internal=may_be_internal) or ()
            for kind in ("A", "AAAA")
        ]
        return {address for addresses in found for address in addresses}

    def _resolve(
        self, name: str, kind: str
    ) -> dns.resolver.Answer | dns.resolver.NXDOMAIN:
        try:
            resolver = dns.resolver.Resolver(configure=not self._servers)
            servers = list(_resolved(self._servers)) or [
                (str(address), resolver.port) for address in resolver.nameservers
            ]
            resolver.nameservers = [_Nameserver(*server) for server in servers]
            resolver.timeout = timeouts.LIMITS.dns_server_seconds
            return resolver.resolve(
                f"{name}.",
                kind,
                raise_on_no_answer=False,
                lifetime=self._deadline - clock.monotonic(),
            )
        except dns.resolver.NXDOMAIN as answer:
            return answer
        except dns.exception.Timeout:
            raise Unanswered(f"{name} was not resolved in time") from None
        except (dns.exception.DNSException, OSError):
            raise Unanswered(
                f"{name} has DNS servers that answer with an error, or with too much"
            ) from None


def _resolved(servers: tuple[Address, ...]) -> Iterator[tuple[str, int]]:
    """Yield the addresses of the servers; raises OSError if none has any."""
    known = 0
    for host, port in servers:
        with suppress(OSError):
            found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
            yield str(found[0][4][0]), port
            known += 1
    if servers and not known:
        raise OSError("no DNS server has an address")


class _Nameserver(dns.nameserver.Do53Nameserver):
    """A DNS server whose answers are bounded before dnspython parses them.

    It would parse 64 KB for half a minute, during which a worker does nothing else.
    """

    def query(
        self,
        request: dns.message.QueryMessage,
        timeout: float,
        source: str | None,
        source_port: int,
        max_size: bool,
        *_: Any,
        **__: Any,
    ) -> dns.message.Message:
        """Send a query over UDP, or over TCP for an answer that UDP has cut."""
        kind = socket.SOCK_STREAM if max_size else socket.SOCK_DGRAM
        exchange = _over_tcp if max_size else _over_udp
        try:
            with socket.socket(dns.inet.af_for_address(self.address), kind) as server:
                server.settimeout(timeout)
                server.connect((self.address, self.port))
                wire = exchange(server, request.to_wire())
        except TimeoutError:
            raise dns.exception.Timeout from None  # which the resolver tries again
        answer = _parse(wire)
        if not request.is_response(answer):
            raise dns.exception.FormError
        return answer


def _over_udp(server: socket.socket, query: bytes) -> bytes:
    server.send(query)
    return server.recv(timeouts.LIMITS.dns_answer_bytes)


def _over_tcp(server: socket.socket, query: bytes) -> bytes:
    server.sendall(len(query).to_bytes(2) + query)
    with server.makefile("rb") as answer:
        length = int.from_bytes(answer.read(2))
        if length > timeouts.LIMITS.dns_answer_bytes:
            raise dns.exception.FormError
        return answer.read(length)


def _parse(wire: bytes) -> dns.message.Message:
    """Parse the answers of a response; raises `FormError` if they have many parts."""
    parser = dns.wire.Parser(wire)
    _, _, questions, answers, _, _ = parser.get_struct("!6H")
    if questions != 1 or answers > timeouts.LIMITS.dns_records:
        raise dns.exception.FormError
    _skip_name(parser)
    parser.get_bytes(4)
    for _ in range(answers):
        _skip_name(parser)
        kind, length = parser.get_struct("!H6xH")
        if kind not in KINDS:
            raise dns.exception.FormError
        with parser.restrict_to(length):
            if kind in ALIASES:
                _skip_name(parser)
            parser.get_remaining()
    # The header's last numbers are of sections that nobody needs.
    return dns.message.from_wire(
        wire[:8] + bytes(4) + wire[12:], ignore_trailing=True, raise_on_truncation=True
    )


def _skip_name(parser: dns.wire.Parser) -> None:
    # Parsing a name takes time in proportion to the square of its labels.
    if len(dns.name.from_wire_parser(parser).labels) > timeouts.LIMITS.dns_labels:
        raise dns.exception.FormError


def _content(record: Any) -> str:
    match record.rdtype:
        case dns.rdatatype.CNAME:
            return _name(record.target)
        case dns.rdatatype.TXT:
            return b"".join(record.strings).decode(errors="replace").strip()
    return str(record.address)


def _name(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)
