"""Checks of domains in threads: when their owner asks, and from time to time."""

import asyncio
import logging
from concurrent import futures

import peewee
from flask import Flask

from petstore import clock, waiting
from petstore.addresses import Address
from petstore.database import data
from petstore.domains.certificates import fetch_certificate
from petstore.domains.dns import DnsResult, check_dns
from petstore.domains.records import RequiredRecords
from petstore.domains.threads import BoundedThreads
from petstore.models.domain_checks import (
    CHECK_AFTER_MS,
    claim_due,
    record_certificate,
    record_handshake,
)
from petstore.models.domain_proofs import prove, record_finding
from petstore.models.domain_tokens import DomainToken
from petstore.models.domains import Domain, NoSuchDomain
from petstore.models.projects import Project

# Look-ups that people wait for. Each project has one at a time, so it takes this many
# projects with slow DNS to hold up another one.
MAX_VERIFYING = 16
# Handshakes, and checks from time to time.
MAX_THREADS = 16
MAX_THREADS_PER_PROJECT = 4
WAIT_SECONDS = 5.0  # for the result of a look-up

log = logging.getLogger(__name__)


class Busy(Exception):
    """Another domain of the project is being verified."""


class Inspection:
    """Checks the domains of all projects; needs a base domain."""

    def __init__(
        self, base_domain: str, tls_address: Address, dns_servers: tuple[Address, ...]
    ) -> None:
        self.base_domain = base_domain
        self._tls_address = tls_address
        self._dns_servers = dns_servers
        self._due_ms = 0
        self._verifying = futures.ThreadPoolExecutor(MAX_VERIFYING)
        self._verdicts: set[futures.Future[bool]] = set()
        self._threads = BoundedThreads(MAX_THREADS, MAX_THREADS_PER_PROJECT)

    def address(self, project: Project) -> str:
        """Return the generated subdomain of a project."""
        return f"{project.slug}.{self.base_domain}"

    def required_records(self, domain: Domain) -> RequiredRecords:
        """Return what DNS has to contain before the domain is verified."""
        project = domain.project
        return RequiredRecords(
            domain.name, self.address(project), DomainToken.of(project)
        )

    def verify(self, domain: Domain) -> bool | None:
        """Query DNS now; return whether it proves the domain, None if it is slow.

        A slow look-up goes on. A domain that is proved gets its certificate afterwards.
        Raises `Busy` and `NoSuchDomain`.
        """
        turn = DomainToken.begin_turn(domain.project_id)
        if turn is None:
            raise Busy
        verdict = self._verifying.submit(self._verify, domain, turn)
        self._verdicts.add(verdict)
        verdict.add_done_callback(self._end_verifying)
        return waiting.wait(_result_in_time(verdict))

    def check_again(self, project: Project) -> None:
        """Check, in the background, the project's domains that are due."""
        self._threads.start(project.id, lambda: self._check_all_due(project))

    def check_due(self) -> None:
        """Check, once an hour and in the background, all domains that are due."""
        now = clock.now_ms()
        if now >= self._due_ms:
            self._due_ms = now + CHECK_AFTER_MS
            self._threads.start(None, lambda: self._check_all_due(None))

    def wait(self) -> None:
        """Wait for everything that was begun."""
        futures.wait(self._verdicts)
        self._threads.wait()

    def _verify(self, domain: Domain, turn: int) -> bool:
        try:
            is_proved = self._prove(domain)
        finally:
            DomainToken.end_turn(domain.project_id, turn)
            data.disconnect()
        if is_proved:
            self._threads.start(domain.project_id, lambda: self._ask_proxy(domain))
        return is_proved

    def _prove(self, domain: Domain) -> bool:
        result = self._check_dns(domain)
        if not result.is_proved:
            record_finding(domain, result.text, is_proved=False)
            return False
        prove(domain, result.text)
        record_handshake(domain)
        return True

    def _end_verifying(self, verdict: futures.Future[bool]) -> None:
        self._verdicts.discard(verdict)
        error = verdict.exception()
        # Meanwhile the domain may have been removed, or the database lost.
        expected = (peewee.DatabaseError, peewee.DoesNotExist, NoSuchDomain)
        if error and not isinstance(error, expected):
            log.error("internal_error", exc_info=error)

    def _check_all_due(self, project: Project | None) -> None:
        while domain := claim_due(project):
            result = self._check_dns(domain)
            record_finding(domain, result.text, is_proved=result.is_proved)
            if result.is_proved:
                record_handshake(domain)
                self._ask_proxy(domain)

    def _check_dns(self, domain: Domain) -> DnsResult:
        return check_dns(self.required_records(domain), self._dns_servers)

    def _ask_proxy(self, domain: Domain) -> None:
        seen = fetch_certificate(self._tls_address, domain.name)
        record_certificate(domain, seen.issuer, seen.expires_ms, seen.fault)


async def _result_in_time(verdict: futures.Future[bool]) -> bool | None:
    # A look-up that is too slow is not cancelled.
    result = asyncio.shield(asyncio.wrap_future(verdict))
    try:
        return await asyncio.wait_for(result, WAIT_SECONDS)
    except TimeoutError:
        return None


def inspection_of(app: Flask) -> Inspection | None:
    """Return what checks the domains; None without a base domain."""
    inspection: Inspection | None = app.extensions.get("inspection")
    return inspection
