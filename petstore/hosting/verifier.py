"""Checks of domains: when their owner asks, and from time to time."""

import threading
import time
from contextlib import closing, suppress

import peewee
from flask import Flask

from petstore import timeouts
from petstore.concurrency import start
from petstore.hosting.certificates import fetch_certificate
from petstore.hosting.dns import RequiredRecords, check_dns
from petstore.models import RuleError
from petstore.models.domains import (
    DnsResult,
    Domain,
    DomainToken,
    TooManyNewDomains,
)
from petstore.models.projects import Project
from petstore.settings import Address
from petstore.storage import db, end_deadline

MAX_HANDSHAKES = 64  # of a worker
MAX_HANDSHAKES_OF_PROJECT = 4
# The database is unavailable, or the domain was removed meanwhile.
GONE = (peewee.DatabaseError, peewee.DoesNotExist)


class AlreadyVerifying(RuleError):
    """Another domain of the project is being verified, or many of other projects."""

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
        # The projects that something is being done for in this worker.
        self._verifying: list[int] = []
        self._rechecking: list[int] = []
        self._shaking_hands: list[int] = []
        self._lock = threading.RLock()

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
        """Query DNS now; return whether it verifies the domain, None without an answer.

        A domain that is verified gets its certificate afterwards. Raises
        `AlreadyVerifying`, `TooManyNewDomains` and `NoSuchDomain`.
        """
        if not self._enter(self._verifying, domain, timeouts.LIMITS.dns_checks):
            raise AlreadyVerifying
        try:
            result = self._check(domain)
        finally:
            self._verifying.remove(domain.project_id)
        end_deadline()  # of the request: DNS has had a limit of its own
        try:
            domain.record(result, most_new=self._new_domains_per_day)
        except TooManyNewDomains as error:
            domain.record(DnsResult(False, str(error)))
            raise
        if result.is_verified:
            self._start_handshake(domain)
        return result.is_verified

    def begin(self) -> None:
        """Check all domains from time to time, from the first request of a process."""
        if not self._has_begun:
            self._has_begun = True
            start(self._recheck_from_time_to_time)

    def close(self) -> None:
        """End the checks from time to time."""
        self._is_closed = True

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being checked in the background."""
        with self._lock:
            return not (self._shaking_hands or self._rechecking)

    def recheck_due(self) -> None:
        """Start to check the domains that are due, of each project one at a time.

        Projects take turns, so one with many or slow domains holds up no other.
        """
        with suppress(*GONE):
            while domain := self._next_due():
                start(self._recheck, domain)

    def _recheck_from_time_to_time(self) -> None:
        while not self._is_closed:
            time.sleep(timeouts.LIMITS.recheck_seconds)
            self.recheck_due()

    def _next_due(self) -> Domain | None:
        with self._lock:
            if self._is_closed or len(self._rechecking) >= timeouts.LIMITS.dns_checks:
                return None
            with closing(db):
                domain = Domain.claim_due(besides=self._rechecking)
            if domain:
                self._rechecking.append(domain.project_id)
            return domain

    def _recheck(self, domain: Domain) -> None:
        try:
            with suppress(*GONE):
                result = self._check(domain)
                with closing(db):
                    domain.record(result)
                if result.is_verified:
                    self._request_certificate(domain)
        finally:
            with self._lock:
                self._rechecking.remove(domain.project_id)
                self.recheck_due()

    def _check(self, domain: Domain) -> DnsResult:
        with closing(db):  # which others can have while DNS is queried
            required = self.required_records(domain)
        return check_dns(required, self._dns_servers)

    def _start_handshake(self, domain: Domain) -> None:
        """Request the certificate unless too many are; it is due again later."""
        most, of_project = MAX_HANDSHAKES, MAX_HANDSHAKES_OF_PROJECT
        if self._enter(self._shaking_hands, domain, most, of_project=of_project):
            start(self._shake_hands, domain)

    def _shake_hands(self, domain: Domain) -> None:
        try:
            with suppress(*GONE):
                self._request_certificate(domain)
        finally:
            self._shaking_hands.remove(domain.project_id)

    def _request_certificate(self, domain: Domain) -> None:
        certificate = fetch_certificate(self._tls_address, domain.name)
        with closing(db):
            domain.record_certificate(certificate)

    def _enter(
        self, places: list[int], domain: Domain, most: int, *, of_project: int = 1
    ) -> bool:
        """Take one of a number of places; return False if none is free."""
        with self._lock:
            taken = places.count(domain.project_id)
            is_free = len(places) < most and taken < of_project
            if is_free:
                places.append(domain.project_id)
            return is_free


def verifier_of(app: Flask) -> Verifier | None:
    """Return what checks the domains; None without a base domain."""
    verifier: Verifier | None = app.extensions.get("verifier")
    return verifier
