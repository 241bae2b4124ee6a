"""Looks at domains: at once when their owner asks, later from threads of its own."""

import threading
from collections.abc import Callable

import peewee

from petstore import clock
from petstore.database import data
from petstore.domains.certificates import shake_hands
from petstore.domains.dns import Finding, look
from petstore.domains.records import Wanted
from petstore.models.domain_looks import (
    LOOK_AFTER_MS,
    ask_certificate,
    claim_due,
    note_certificate,
)
from petstore.models.domain_proofs import note, prove
from petstore.models.domain_tokens import DomainToken
from petstore.models.domains import Domain
from petstore.models.projects import Project
from petstore.settings import Settings

MAX_THREADS = 16
# DNS may take long to answer, and the process has requests to serve meanwhile.
MAX_VERIFYING = 2


class Busy(Exception):
    """As many domains are being verified at this moment as may be."""


class Inspection:
    """The eyes of the service; needs a base domain."""

    def __init__(self, settings: Settings) -> None:
        self.base_domain = settings.base_domain
        self._settings = settings
        self._due_ms = 0
        self._verifying = threading.Semaphore(MAX_VERIFYING)
        self._threads: set[threading.Thread] = set()

    def address(self, project: Project) -> str:
        """The generated subdomain of a project."""
        return f"{project.slug}.{self.base_domain}"

    def wanted(self, domain: Domain) -> Wanted:
        """What DNS has to say of a domain."""
        token = DomainToken.of(domain.project)
        return Wanted(domain.name, self.address(domain.project), token)

    def verify(self, domain: Domain) -> bool:
        """Ask DNS now; a domain that it proves gets its certificate afterwards.

        Raises `Busy`.
        """
        if not self._verifying.acquire(blocking=False):
            raise Busy
        try:
            finding = self._ask_dns(domain)
        finally:
            self._verifying.release()
        if not finding.is_proved:
            note(domain, finding.text, is_proved=False)
            return False
        prove(domain, finding.text)
        ask_certificate(domain)
        self._start(lambda: self._ask_proxy(domain))
        return True

    def look_again(self, project: Project) -> None:
        """Look, without keeping anybody waiting, at what is due of the project."""
        self._start(lambda: self._look_at_all(project))

    def pass_by(self) -> None:
        """Look at what is due of all projects, once an hour."""
        now = clock.now_ms()
        if now >= self._due_ms:
            self._due_ms = now + LOOK_AFTER_MS
            self._start(lambda: self._look_at_all(None))

    def wait(self) -> None:
        """Return when everything that was begun has ended."""
        for thread in list(self._threads):
            thread.join()

    def _look_at_all(self, project: Project | None) -> None:
        while domain := claim_due(project):
            finding = self._ask_dns(domain)
            note(domain, finding.text, is_proved=finding.is_proved)
            if finding.is_proved:
                ask_certificate(domain)
                self._ask_proxy(domain)

    def _ask_dns(self, domain: Domain) -> Finding:
        return look(self.wanted(domain), self._settings.dns_servers)

    def _ask_proxy(self, domain: Domain) -> None:
        seen = shake_hands(self._settings.tls_address, domain.name)
        note_certificate(domain, seen.issuer, seen.expires_ms, seen.fault)

    def _start(self, errand: Callable[[], None]) -> None:
        if len(self._threads) >= MAX_THREADS:
            return  # what was asked for is due again later
        thread = threading.Thread(target=self._run, args=(errand,), daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self, errand: Callable[[], None]) -> None:
        try:
            errand()
        except (peewee.DatabaseError, peewee.DoesNotExist):
            pass  # it is due again later; a domain may be removed meanwhile
        finally:
            data.disconnect()
            self._threads.discard(threading.current_thread())
