"""The only module that queries DNS: one query at a time, until a deadline."""

import asyncio
import socket
from typing import Any

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver

from petstore.server import timeouts
from petstore.settings.addresses import Address


class Unanswered(Exception):
    """DNS gave no answer; the text names what was not resolved, and why."""


class NoSuchName(Exception):
    """The name does not exist in DNS (NXDOMAIN)."""


class Resolver:
    """Queries DNS until a deadline; every method may raise `Unanswered`."""

    def __init__(self, servers: tuple[Address, ...]) -> None:
        self._servers = servers
        now = asyncio.get_running_loop().time()
        self._deadline = now + timeouts.LIMITS.dns_seconds

    async def cname(self, name: str) -> str | None:
        """Return the target of the name's CNAME record; raises `NoSuchName`."""
        for record in await self._query(name, "CNAME"):
            target: str = record.target.canonicalize().to_text(omit_final_dot=True)
            return target
        return None

    async def addresses(self, name: str) -> set[str]:
        """Return the IPv4 and IPv6 addresses of a name, after any CNAME records."""
        try:
            found = [*await self._query(name, "A"), *await self._query(name, "AAAA")]
        except NoSuchName:
            return set()
        return {record.address for record in found}

    async def texts(self, name: str) -> list[str]:
        """Return the contents of the name's TXT records."""
        try:
            records = await self._query(name, "TXT")
        except NoSuchName:
            return []
        joined = (b"".join(record.strings) for record in records)
        return [text.decode(errors="replace").strip() for text in joined]

    async def _query(self, name: str, kind: str) -> list[Any]:
        try:
            async with asyncio.timeout_at(self._deadline):
                resolver = await self._resolver()
                answer = await resolver.resolve(
                    f"{name}.", kind, raise_on_no_answer=False
                )
        except dns.resolver.NXDOMAIN:
            raise NoSuchName from None
        except (dns.exception.Timeout, TimeoutError):
            raise Unanswered(f"{name} was not resolved in time") from None
        except (dns.exception.DNSException, OSError):
            raise Unanswered(
                f"{name} has DNS servers that answer with an error"
            ) from None
        return list(answer.rrset or ())

    async def _resolver(self) -> dns.asyncresolver.Resolver:
        resolver = dns.asyncresolver.Resolver(configure=not self._servers)
        if self._servers:
            resolver.nameservers = [await _nameserver(each) for each in self._servers]
        resolver.timeout = timeouts.LIMITS.dns_server_seconds
        resolver.lifetime = timeouts.LIMITS.dns_seconds
        return resolver


async def _nameserver(address: Address) -> dns.nameserver.Nameserver:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(*address, type=socket.SOCK_DGRAM)
    return dns.nameserver.Do53Nameserver(str(found[0][4][0]), address.port)
