"""The only door to DNS: one question at a time, within a time that is given."""

import socket
import time
from collections.abc import Iterable

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver

from petstore.addresses import Address
from petstore.waiting import run_in_thread

LOOK_SECONDS = 10.0
QUESTION_SECONDS = 4.0
TRY_SECONDS = 1.5


class Unanswered(Exception):
    """DNS gave no answer; the text says why, after the name."""


class NoSuchName(Exception):
    """DNS knows that the name does not exist."""


class Resolver:
    """Asks for as long as one look at a domain may take."""

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._servers = servers
        self._deadline = time.monotonic() + LOOK_SECONDS

    def link(self, name: str) -> str | None:
        """Where the CNAME record of a name points; None where there is none."""
        records = self._ask(name, "CNAME")
        return _plain(records[0].target) if records else None

    def addresses(self, name: str) -> set[str]:
        """The IPv4 and IPv6 addresses of a name, at the end of its chain."""
        found = [*self._ask(name, "A"), *self._ask(name, "AAAA")]
        return {record.address for record in found}

    def texts(self, name: str) -> list[str]:
        """What the TXT records of a name hold."""
        joined = (b"".join(record.strings) for record in self._ask(name, "TXT"))
        return [text.decode(errors="replace").strip() for text in joined]

    def _ask(self, name: str, kind: str) -> list:
        left = self._deadline - time.monotonic()
        try:
            if left <= 0:
                raise dns.exception.Timeout
            lifetime = min(left, QUESTION_SECONDS)
            answer = run_in_thread(self._resolve, name, kind, lifetime)
        except dns.resolver.NXDOMAIN:
            raise NoSuchName from None
        except dns.exception.Timeout:
            raise Unanswered("was not answered for in time") from None
        except (dns.exception.DNSException, OSError):
            raise Unanswered("has DNS servers that answer with an error") from None
        return list(answer.rrset or ())

    def _resolve(self, name: str, kind: str, seconds: float) -> dns.resolver.Answer:
        resolver = dns.resolver.Resolver(configure=not self._servers)
        if self._servers:
            resolver.nameservers = list(_nameservers(self._servers))
        resolver.timeout = TRY_SECONDS
        return resolver.resolve(
            f"{name}.", kind, lifetime=seconds, raise_on_no_answer=False
        )


def _nameservers(
    servers: Iterable[Address],
) -> Iterable[dns.nameserver.Nameserver]:
    for host, port in servers:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        yield dns.nameserver.Do53Nameserver(found[0][4][0], port)


def _plain(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)
