"""Checks of domains: when their owner asks, and from time to time."""

import asyncio
from contextlib import suppress

import peewee
from flask import Flask

from petstore import timeouts
from petstore.events.activity import ITSELF
from petstore.hosting.certificates import fetch_certificate
from petstore.hosting.dns import DnsResult, RequiredRecords, check_dns
from petstore.models import RuleError
from petstore.models.domains import Domain, DomainToken
from petstore.models.domains.checks import (
    TooManyNewDomains,
    claim_due,
    due_projects,
    prove,
    record_certificate,
    record_finding,
    record_handshake,
)
from petstore.models.projects import Project
from petstore.settings.addresses import Address
from petstore.waiting import await_result, start_in_background

# Of one worker.
MAX_HANDSHAKES = 64
MAX_HANDSHAKES_PER_PROJECT = 4
MAX_RECHECKED_PROJECTS = 1000  # at a time; a later round starts the others
# The database is unavailable, or the domain was removed meanwhile.
GONE = (peewee.DatabaseError, peewee.DoesNotExist)


class AlreadyVerifying(RuleError):
    """Another domain of the project is being verified."""

    text = "DNS is still being asked about another domain. Try again in a moment."


class Verifier:
    """Checks the domains of all projects; needs a base domain."""

    def __init__(
        self,
        base_domain: str,
        tls_address: Address,
        dns_servers: tuple[Address, ...],
        new_domains_per_day: int,
    ) -> None:
        self.base_domain = base_domain
        self._tls_address = tls_address
        self._dns_servers = dns_servers
        self._new_domains_per_day = new_domains_per_day
        self._has_begun = self._is_closed = False
        # The projects of the handshakes, and of the checks from time to time.
        self._handshakes: list[int] = []
        self._rechecks: set[int] = set()
        self._turns = asyncio.Semaphore(timeouts.LIMITS.rechecks)

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
        """Query DNS now; return whether it proves the domain, None without an answer.

        A domain that is proved gets its certificate afterwards. Raises
        `AlreadyVerifying`, `TooManyNewDomains` and `NoSuchDomain`.
        """
        # A project waits for DNS once at a time, so however slow its DNS is, it takes
        # few of the threads of a server that has threads.
        lock = DomainToken.acquire_lock(domain.project_id)
        if lock is None:
            raise AlreadyVerifying
        try:
            return self._verify(domain)
        finally:
            DomainToken.release_lock(domain.project_id, lock)

    def begin(self) -> None:
        """Check all domains from time to time, from the first request of a process."""
        if not self._has_begun:
            self._has_begun = True
            start_in_background(self._recheck_from_time_to_time)

    def close(self) -> None:
        """End the checks from time to time."""
        self._is_closed = True

    def recheck_due(self) -> None:
        """Start to check the domains that are due, of each project one at a time.

        The projects take turns, so one with many or slow domains holds up no other.
        """
        room = MAX_RECHECKED_PROJECTS - len(self._rechecks)
        for project_id in due_projects(besides=self._rechecks, limit=room):
            self._rechecks.add(project_id)
            start_in_background(self._recheck_project, project_id)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being checked in the background."""
        return not (self._handshakes or self._rechecks)

    def _recheck_from_time_to_time(self) -> None:
        while not self._is_closed:
            await_result(asyncio.sleep(timeouts.LIMITS.recheck_seconds))
            # Whatever fails, the next round follows.
            start_in_background(self._start_round)

    def _start_round(self) -> None:
        if not self._is_closed:
            with suppress(*GONE):
                self.recheck_due()

    def _verify(self, domain: Domain) -> bool | None:
        result = self._check_dns(domain)
        if not result.is_proved:
            record_finding(domain, result.text, is_proved=result.is_proved)
            return result.is_proved
        try:
            prove(domain, result.text, most_new=self._new_domains_per_day)
        except TooManyNewDomains as error:
            record_finding(domain, str(error), is_proved=False)
            raise
        record_handshake(domain)
        self._start_handshake(domain)
        return True

    def _recheck_project(self, project_id: int) -> None:
        try:
            with suppress(*GONE):
                while self._recheck_next(project_id):
                    pass
        finally:
            self._rechecks.discard(project_id)

    def _recheck_next(self, project_id: int) -> bool:
        """Check a domain of the project when it is its turn; return if one was due."""
        await_result(self._turns.acquire())
        try:
            domain = claim_due(project_id)
            if domain:
                self._check(domain)
            return domain is not None
        finally:
            self._turns.release()

    def _check(self, domain: Domain) -> None:
        result = self._check_dns(domain)
        record_finding(domain, result.text, is_proved=result.is_proved)
        if result.is_proved:
            record_handshake(domain)
            self._request_certificate(domain)
        elif domain.has_expired:
            domain.emit("domain_expired", by=ITSELF)

    def _check_dns(self, domain: Domain) -> DnsResult:
        required = self.required_records(domain)
        return await_result(check_dns(required, self._dns_servers))

    def _request_certificate(self, domain: Domain) -> None:
        seen = await_result(fetch_certificate(self._tls_address, domain.name))
        record_certificate(
            domain, seen.issuer, seen.expires_ms, seen.fault, seen.detail
        )

    def _start_handshake(self, domain: Domain) -> None:
        """Request the certificate unless too many are; it is due again later."""
        of_project = self._handshakes.count(domain.project_id)
        if (
            len(self._handshakes) < MAX_HANDSHAKES
            and of_project < MAX_HANDSHAKES_PER_PROJECT
        ):
            self._handshakes.append(domain.project_id)
            start_in_background(self._shake_hands, domain)

    def _shake_hands(self, domain: Domain) -> None:
        try:
            with suppress(*GONE):
                self._request_certificate(domain)
        finally:
            self._handshakes.remove(domain.project_id)


def verifier_of(app: Flask) -> Verifier | None:
    """Return what checks the domains; None without a base domain."""
    verifier: Verifier | None = app.extensions.get("verifier")
    return verifier
