"""An in-process DNS server that answers from a table of records."""

import socket
import socketserver
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

from petstore.settings import Address
from tests.harness.listening import listening

TTL = 60
Twist = Callable[[dns.message.Message, bool], object]


class DnsServer:
    """A DNS server: unknown names do not exist; `twist` may alter each response.

    It is called with the response and whether that goes over TCP.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.records: dict[str, dict[str, list[str]]] = {}
        self.twist: Twist = lambda answer, is_tcp: None
        self.is_silent = False
        self.pause_seconds = 0.0  # before each byte of a response over TCP
        self.queries: list[tuple[str, str]] = []

    def put(self, name: str, kind: str, *values: str) -> None:
        """Set the records of a name and type."""
        self.records.setdefault(name, {})[kind] = list(values)

    def answer(self, wire: bytes, *, is_tcp: bool) -> bytes | None:
        """Return the response to a query, as a recursive resolver would."""
        query = dns.message.from_wire(wire)
        [question] = query.question
        name, kind = question.name.to_text(True), dns.rdatatype.to_text(question.rdtype)
        self.queries.append((name, kind))
        answer = dns.message.make_response(query)
        if not self._fill(answer, name, kind):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        self.twist(answer, is_tcp)
        return None if self.is_silent else answer.to_wire()

    def _fill(self, answer: dns.message.Message, name: str, kind: str) -> bool:
        for _ in range(20):
            records = self.records.get(name.lower())
            if records is None:
                return False
            found = kind if kind in records else "CNAME"
            if found not in records:
                return True
            answer.answer.append(rrset(name, found, *records[found]))
            if found == kind:
                return True
            name = records["CNAME"][0].rstrip(".")
        answer.set_rcode(dns.rcode.SERVFAIL)
        return True


def rrset(name: str, kind: str, *values: str) -> dns.rrset.RRset:
    """Return the records of a name and type; CNAME targets become absolute."""
    if kind == "CNAME":
        values = tuple(f"{value.rstrip('.')}." for value in values)
    return dns.rrset.from_text(f"{name}.", TTL, "IN", kind, *values)


@contextmanager
def dns_server() -> Iterator[DnsServer]:
    """Run a server on UDP and TCP for the duration of the block."""
    udp, tcp = _sockets()
    server = DnsServer(Address(*udp.server_address))
    udp.dns = tcp.dns = server
    with listening(udp, tcp):
        yield server


def _sockets() -> tuple[socketserver.BaseServer, socketserver.BaseServer]:
    while True:
        udp = socketserver.ThreadingUDPServer(("127.0.0.1", 0), _Datagram)
        try:
            return udp, socketserver.ThreadingTCPServer(udp.server_address, _Stream)
        except OSError:  # the port is already in use on TCP
            udp.server_close()


class _Datagram(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        wire, channel = self.request
        if answer := self.server.dns.answer(wire, is_tcp=False):
            channel.sendto(answer, self.client_address)


class _Stream(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.settimeout(5)
        length = int.from_bytes(self.request.recv(2, socket.MSG_WAITALL))
        wire = self.request.recv(length, socket.MSG_WAITALL)
        if answer := self.server.dns.answer(wire, is_tcp=True):
            answer = len(answer).to_bytes(2) + answer
            with suppress(ConnectionError):  # the client has given up
                while answer:
                    time.sleep(pause := self.server.dns.pause_seconds)
                    size = 1 if pause else len(answer)
                    self.request.sendall(answer[:size])
                    answer = answer[size:]
