"""Checks of domains: when their owner asks, and from time to time."""

from collections.abc import Callable
from typing import Any

import peewee
from flask import Flask

from petstore import clock
from petstore.domains.certificates import fetch_certificate
from petstore.domains.dns import DnsResult, RequiredRecords, check_dns
from petstore.models import RuleError
from petstore.models.domains import Domain, DomainToken
from petstore.models.domains.checks import (
    TooManyNewDomains,
    claim_due,
    prove,
    record_certificate,
    record_finding,
    record_handshake,
)
from petstore.models.projects import Project
from petstore.server import await_result, start_in_background
from petstore.settings.addresses import Address

# Handshakes, and checks from time to time, of one worker.
MAX_RUNNING = 64
MAX_RUNNING_PER_PROJECT = 4


class Busy(RuleError):
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
        self._due_ms = 0
        # The project of each task in the background; None is for all projects.
        self._running: list[int | None] = []

    def address(self, project: Project) -> str:
        """Return the generated subdomain of a project."""
        return f"{project.slug}.{self.base_domain}"

    def required_records(self, domain: Domain) -> RequiredRecords:
        """Return what DNS has to contain before the domain is verified."""
        project = domain.project
        return RequiredRecords(
            domain.name, self.address(project), DomainToken.of(project)
        )

    def verify(self, domain: Domain) -> bool:
        """Query DNS now; return whether it proves the domain.

        A domain that is proved gets its certificate afterwards. Raises `Busy`,
        `TooManyNewDomains` and `NoSuchDomain`.
        """
        # A project waits for DNS once at a time, so however slow its DNS is, it takes
        # few of the threads of a server that has threads.
        lock = DomainToken.acquire_lock(domain.project_id)
        if lock is None:
            raise Busy
        try:
            return self._verify(domain)
        finally:
            DomainToken.release_lock(domain.project_id, lock)

    def recheck_due(self) -> None:
        """Check, once a minute and in the background, all domains that are due."""
        now = clock.now_ms()
        if now >= self._due_ms:
            self._due_ms = now + clock.MS_PER_MINUTE
            self._start(None, self._check_all_due)

    def _verify(self, domain: Domain) -> bool:
        result = self._check_dns(domain)
        if not result.is_proved:
            record_finding(domain, result.text, is_proved=False)
            return False
        try:
            prove(domain, result.text, most_new=self._new_domains_per_day)
        except TooManyNewDomains as error:
            record_finding(domain, str(error), is_proved=False)
            raise
        record_handshake(domain)
        self._start(domain.project_id, self._request_certificate, domain)
        return True

    def _check_all_due(self) -> None:
        while domain := claim_due():
            result = self._check_dns(domain)
            record_finding(domain, result.text, is_proved=result.is_proved)
            if result.is_proved:
                record_handshake(domain)
                self._request_certificate(domain)

    def _check_dns(self, domain: Domain) -> DnsResult:
        required = self.required_records(domain)
        return await_result(check_dns(required, self._dns_servers))

    def _request_certificate(self, domain: Domain) -> None:
        seen = await_result(fetch_certificate(self._tls_address, domain.name))
        record_certificate(domain, seen.issuer, seen.expires_ms, seen.fault)

    def _start(
        self, project_id: int | None, task: Callable[..., None], *arguments: Any
    ) -> None:
        """Run a task in the background unless too many run; it is due again later."""
        of_project = self._running.count(project_id)
        if len(self._running) < MAX_RUNNING and of_project < MAX_RUNNING_PER_PROJECT:
            self._running.append(project_id)
            start_in_background(self._run, project_id, task, *arguments)

    def _run(
        self, project_id: int | None, task: Callable[..., None], *arguments: Any
    ) -> None:
        try:
            task(*arguments)
        except (peewee.DatabaseError, peewee.DoesNotExist):
            pass  # the database is unavailable, or the domain was removed meanwhile
        finally:
            self._running.remove(project_id)


def verifier_of(app: Flask) -> Verifier | None:
    """Return what checks the domains; None without a base domain."""
    verifier: Verifier | None = app.extensions.get("verifier")
    return verifier
