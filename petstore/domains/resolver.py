"""The only module that queries DNS: one query at a time, until a deadline."""

import socket
import time
from collections.abc import Iterable
from typing import Any

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver

from petstore.addresses import Address

CHECK_SECONDS = 10.0  # for all queries of a resolver
QUERY_SECONDS = 4.0  # for one query
TRY_SECONDS = 1.5  # for one server, before the next one is tried


class Unanswered(Exception):
    """DNS gave no answer; the text continues a sentence that begins with the name."""


class NoSuchName(Exception):
    """The name does not exist in DNS (NXDOMAIN)."""


class Resolver:
    """Queries DNS until a deadline; every method raises the two exceptions above."""

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._servers = servers
        self._deadline = time.monotonic() + CHECK_SECONDS

    def cname(self, name: str) -> str | None:
        """Return the target of the name's CNAME record, if there is one."""
        records = self._query(name, "CNAME")
        return _text(records[0].target) if records else None

    def addresses(self, name: str) -> set[str]:
        """Return the IPv4 and IPv6 addresses of a name, after any CNAME records."""
        found = [*self._query(name, "A"), *self._query(name, "AAAA")]
        return {record.address for record in found}

    def texts(self, name: str) -> list[str]:
        """Return the contents of the name's TXT records."""
        joined = (b"".join(record.strings) for record in self._query(name, "TXT"))
        return [text.decode(errors="replace").strip() for text in joined]

    def _query(self, name: str, kind: str) -> list[Any]:
        remaining = self._deadline - time.monotonic()
        try:
            if remaining <= 0:
                raise dns.exception.Timeout
            lifetime = min(remaining, QUERY_SECONDS)
            answer = self._resolve(name, kind, lifetime)
        except dns.resolver.NXDOMAIN:
            raise NoSuchName from None
        except dns.exception.Timeout:
            raise Unanswered("was not resolved in time") from None
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
        yield dns.nameserver.Do53Nameserver(str(found[0][4][0]), port)


def _text(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)
