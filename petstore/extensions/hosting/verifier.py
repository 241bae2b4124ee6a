"""Checks domains in DNS, and makes the first TLS handshakes for them.

The first handshake makes a proxy with on-demand TLS obtain the certificate. The service
connects only to the address of the proxy, which the operator sets. The domain is only
the server name in the handshake. When a domain that points elsewhere expires is in
`models.py`: `EXPIRES_AFTER_MS`.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import peewee
from flask import Flask
from limits import RateLimitItem

from petstore import timeouts
from petstore.clock import MS_PER_SECOND
from petstore.concurrency import Delayed, call_in_thread, start
from petstore.extensions.hosting.dns import RequiredRecords, check_dns
from petstore.extensions.hosting.models import (
    Certificate,
    DnsResult,
    Domain,
    DomainToken,
    require_domains,
)
from petstore.models import NotFound, RuleError
from petstore.models.projects import Project
from petstore.quotas.limiter import Limiter
from petstore.settings import Address
from petstore.storage import NEVER, db, deadline, suppress_outage


class TooManyNewDomains(RuleError):
    text = "The project has verified {} new domains today. Wait until 00:00 UTC."


@dataclass
class Verifier:
    base_domain: str
    tls_address: Address
    dns_servers: tuple[Address, ...]
    limiter: Limiter
    new_domains: RateLimitItem  # that a project may verify for the first time

    def __post_init__(self) -> None:
        self._rechecks = Delayed(self.recheck_due)

    def address(self, project: Project) -> str:
        return f"{project.slug}.{self.base_domain}"

    def required_records(self, domain: Domain) -> RequiredRecords:
        project = domain.project
        return RequiredRecords(
            domain.name, self.address(project), DomainToken.of(project)
        )

    def verify(self, domain: Domain) -> bool | None:
        """Query DNS now; return whether it verifies the domain, None without an answer.

        A verified domain gets its certificate in the background. Raises
        `DomainNotAllowed`, `TooManyNewDomains` and `NotFound`.
        """
        require_domains(domain.project)
        result = self._check(domain)
        deadline.set(NEVER)  # DNS has a limit of its own
        # The same form may have verified it meanwhile, which is counted once.
        domain = Domain.get_own(domain.project, domain.id)
        if result.is_verified and domain.is_new:
            self._count_new(domain)
        domain.record(result, by_owner=True)
        if result.is_verified:
            start(self._request_certificate, domain)
        return result.is_verified

    def _count_new(self, domain: Domain) -> None:
        subject = f"new-domains:{domain.project_id}"
        if not self.limiter.strategy.hit(self.new_domains, subject):
            raise TooManyNewDomains(self.new_domains.amount)

    def recheck_soon(self) -> None:
        """Check the domains that are due a minute later, in the background."""
        self._rechecks.start(timeouts.LIMITS.recheck_seconds)

    def recheck_due(self) -> None:
        """Check the domains that are due, those of one project one after another.

        Several projects are checked at once, so that the slow DNS or proxy of one does
        not hold up others.
        """
        with _background():
            for _ in range(timeouts.LIMITS.rechecked_projects):
                if not (domains := Domain.claim_due()):
                    break
                start(self._recheck, domains)

    def _recheck(self, domains: list[Domain]) -> None:
        for domain in domains:
            with _background():
                result = self._check(domain)
                domain.record(result)
                if result.is_verified:
                    self._request_certificate(domain)

    def _check(self, domain: Domain) -> DnsResult:
        required = self.required_records(domain)
        db.close()  # others may use the connection while DNS is queried
        return check_dns(required, self.dns_servers)

    def _request_certificate(self, domain: Domain) -> None:
        db.close()  # likewise
        certificate = fetch_certificate(self.tls_address, domain.name)
        with _background():
            domain.record_certificate(certificate)


def verifier_of(app: Flask) -> Verifier | None:
    """Return the verifier of the application; None without a base domain."""
    return app.extensions.get("verifier")


@contextmanager
def _background() -> Iterator[None]:
    """End the block early if the domain was removed, or if the database is away."""
    with suppress_outage(), suppress(peewee.DoesNotExist, NotFound), closing(db):
        yield


def fetch_certificate(proxy: Address, domain: str) -> Certificate:
    """Return the proxy's certificate for the domain, or why a client refuses it."""
    try:
        # Reading the trusted authorities takes long.
        context = call_in_thread(ssl.create_default_context)
        with (
            socket.create_connection(proxy, timeouts.LIMITS.handshake_seconds) as plain,
            context.wrap_socket(plain, server_hostname=domain) as connection,
        ):
            certificate: Any = connection.getpeercert()
    except OSError as error:
        detail = f"{proxy}: {error or type(error).__name__}"
        return Certificate(fault=_fault_of(error), detail=detail)
    issuer = dict(chain.from_iterable(certificate["issuer"]))
    expires = ssl.cert_time_to_seconds(certificate["notAfter"])
    name = issuer.get("organizationName") or issuer.get("commonName")
    return Certificate(name or "an authority without a name", expires * MS_PER_SECOND)


def _fault_of(error: OSError) -> str:
    """Return what the project sees, without the address, which may be internal."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.rstrip(".")
        return f"The proxy shows a certificate that is not valid: {reason}."
    if isinstance(error, TimeoutError):
        return "The proxy did not show a certificate in time."
    if isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError):
        return "The proxy has no certificate for this domain yet."
    return "The operator's proxy cannot be reached: tell the operator."
