"""The only module that queries DNS: one query at a time, until a deadline.

Parsing an answer takes a hundred times longer than reading it, and the event loop waits
meanwhile. So each answer is bounded before it is parsed, and so is their number.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import dns.asyncresolver
import dns.exception
import dns.message
import dns.name
import dns.nameserver
import dns.rdatatype
import dns.resolver

from petstore import timeouts
from petstore.hosting.names import is_public
from petstore.settings.addresses import Address

HEADER_BYTES = 12  # the number of the query, flags, and the counts of four sections
ALIASES = (dns.rdatatype.CNAME, dns.rdatatype.DNAME)
KINDS = (*ALIASES, dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.TXT)
# Parsing a name takes time in proportion to the square of its labels.
MAX_LABELS = 16


class Unanswered(Exception):
    """DNS gave no answer; the text names what was not resolved, and why."""


class NoSuchName(Exception):
    """The name does not exist in DNS (NXDOMAIN)."""


class NotPublic(Exception):
    """The name, which is the text, is an alias of a name of an internal DNS."""


class _TooMuch(dns.exception.FormError):
    """An answer has more than any check needs."""


class Resolver:
    """Queries DNS until a deadline; every method may raise `Unanswered`."""

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._servers = servers
        now = asyncio.get_running_loop().time()
        self._deadline = now + timeouts.LIMITS.dns_seconds
        self._answers_left = timeouts.LIMITS.dns_answers

    async def cname(self, name: str) -> str | None:
        """Return the target of the name's CNAME record; raises `NoSuchName`."""
        for record in await self._query(name, "CNAME"):
            target: str = record.target.canonicalize().to_text(omit_final_dot=True)
            return target
        return None

    async def addresses(self, name: str, *, may_be_internal: bool = False) -> set[str]:
        """Return the IPv4 and IPv6 addresses of a name, after any CNAME records.

        Raises `NotPublic` unless these may lead to an internal name.
        """
        query = partial(self._query, name, may_be_internal=may_be_internal)
        try:
            found = [*await query("A"), *await query("AAAA")]
        except NoSuchName:
            return set()
        return {record.address for record in found}

    async def texts(self, name: str) -> list[str]:
        """Return the contents of the name's TXT records; raises `NotPublic`."""
        try:
            records = await self._query(name, "TXT")
        except NoSuchName:
            return []
        joined = (b"".join(record.strings) for record in records)
        return [text.decode(errors="replace").strip() for text in joined]

    async def _query(
        self, name: str, kind: str, *, may_be_internal: bool = False
    ) -> list[Any]:
        answer = await self._resolve(name, kind)
        end = answer.canonical_name.canonicalize().to_text(omit_final_dot=True)
        if not (may_be_internal or end == name or is_public(end)):
            raise NotPublic(name)
        if isinstance(answer, dns.resolver.NXDOMAIN):
            raise NoSuchName
        return list(answer.rrset or ())

    async def _resolve(
        self, name: str, kind: str
    ) -> dns.resolver.Answer | dns.resolver.NXDOMAIN:
        try:
            async with asyncio.timeout_at(self._deadline):
                resolver = await self._resolver()
                return await resolver.resolve(
                    f"{name}.", kind, raise_on_no_answer=False
                )
        except dns.resolver.NXDOMAIN as answer:
            return answer
        except (dns.exception.Timeout, TimeoutError):
            raise Unanswered(f"{name} was not resolved in time") from None
        except (dns.exception.DNSException, OSError):
            raise Unanswered(
                f"{name} has DNS servers that answer with an error, or with too much"
            ) from None

    async def _resolver(self) -> dns.asyncresolver.Resolver:
        resolver = dns.asyncresolver.Resolver(configure=not self._servers)
        servers = await _resolved(self._servers) or [
            Address(str(address), resolver.port) for address in resolver.nameservers
        ]
        resolver.nameservers = [_Nameserver(each, self._parse) for each in servers]
        resolver.timeout = timeouts.LIMITS.dns_server_seconds
        resolver.lifetime = timeouts.LIMITS.dns_seconds
        return resolver

    def _parse(self, wire: bytes) -> dns.message.Message:
        """Parse an answer; raises `FormError` for what is dear or malformed."""
        if self._answers_left == 0:
            raise _TooMuch
        self._answers_left -= 1
        _require_little(wire)
        # Only the section of the answers is read.
        counts = struct.pack("!HH", 0, 0)
        return dns.message.from_wire(
            wire[: HEADER_BYTES - len(counts)] + counts + wire[HEADER_BYTES:],
            ignore_trailing=True,
            raise_on_truncation=True,
        )


class _Nameserver(dns.nameserver.Do53Nameserver):
    """A DNS server whose answers are bounded before they are parsed."""

    def __init__(
        self, address: Address, parse: Callable[[bytes], dns.message.Message]
    ) -> None:
        super().__init__(*address)
        self._parse = parse

    async def async_query(
        self,
        request: dns.message.QueryMessage,
        timeout: float,
        source: str | None,
        source_port: int,
        max_size: bool,
        *_: Any,
        **__: Any,
    ) -> dns.message.Message:
        """Send a query over UDP, or over TCP for an answer of any size."""
        ask = _ask_over_tcp if max_size else _ask_over_udp
        try:
            async with asyncio.timeout(timeout):
                wire = await ask(Address(self.address, self.port), request.to_wire())
        except TimeoutError:
            raise dns.exception.Timeout from None
        answer = self._parse(wire)
        if not request.is_response(answer):
            raise dns.exception.FormError
        return answer


class _FirstAnswer(asyncio.DatagramProtocol):
    """Waits for the first datagram with the number of the query."""

    def __init__(self, query: bytes) -> None:
        self._number = query[:2]
        self.wire: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, wire: bytes, _: object) -> None:
        if wire[:2] == self._number and not self.wire.done():
            self.wire.set_result(wire)

    def error_received(self, error: Exception) -> None:
        if not self.wire.done():
            self.wire.set_exception(error)


async def _ask_over_udp(server: Address, query: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    transport, answer = await loop.create_datagram_endpoint(
        lambda: _FirstAnswer(query), remote_addr=server
    )
    try:
        transport.sendto(query)
        return await answer.wire
    finally:
        transport.abort()


async def _ask_over_tcp(server: Address, query: bytes) -> bytes:
    most = timeouts.LIMITS.dns_answer_bytes
    reader, writer = await asyncio.open_connection(*server, limit=most)
    try:
        writer.write(len(query).to_bytes(2) + query)
        length = int.from_bytes(await reader.readexactly(2))
        if length > most:
            raise _TooMuch
        return await reader.readexactly(length)
    finally:
        writer.transport.abort()


def _require_little(wire: bytes) -> None:
    """Raise `_TooMuch` unless an answer takes little time to parse."""
    try:
        questions, answers = struct.unpack_from("!HH", wire, 4)
        if len(wire) > timeouts.LIMITS.dns_answer_bytes or questions != 1:
            raise _TooMuch
        if answers > timeouts.LIMITS.dns_records:
            raise _TooMuch
        end = _end_of_name(wire, HEADER_BYTES) + 4
        for _ in range(answers):
            end = _end_of_record(wire, end)
    except struct.error:
        raise dns.exception.FormError from None


def _end_of_record(wire: bytes, start: int) -> int:
    fields = _end_of_name(wire, start)
    kind, length = struct.unpack_from("!H6xH", wire, fields)
    if kind not in KINDS:
        raise _TooMuch
    content = fields + 10
    if kind in ALIASES:
        _end_of_name(wire, content)
    return content + int(length)


def _end_of_name(wire: bytes, start: int) -> int:
    name, length = dns.name.from_wire(wire, start)
    if len(name.labels) > MAX_LABELS:
        raise _TooMuch
    return start + length


async def _resolved(servers: tuple[Address, ...]) -> list[Address]:
    """Return the servers whose names have an address; raises OSError without any.

    All names are looked up at once, so one that takes long does not add to the others.
    """
    found = await asyncio.gather(*map(_address_of, servers))
    known = [each for each in found if each]
    if servers and not known:
        raise OSError("no DNS server has an address")
    return known


async def _address_of(server: Address) -> Address | None:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeouts.LIMITS.dns_server_seconds):
            found = await loop.getaddrinfo(*server, type=socket.SOCK_DGRAM)
    except OSError:  # a TimeoutError too
        return None
    return Address(str(found[0][4][0]), server.port)
