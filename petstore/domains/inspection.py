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


class Inspection:
    """The eyes of the service; needs a base domain."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._due_ms = 0
        self._threads: set[threading.Thread] = set()

    def wanted(self, domain: Domain) -> Wanted:
        """What DNS has to say of a domain."""
        target = f"{domain.project.slug}.{self._settings.base_domain}"
        return Wanted(domain.name, target, DomainToken.of(domain.project))

    def verify(self, domain: Domain) -> None:
        """Ask DNS now; a domain that it proves gets its certificate afterwards."""
        finding = self._ask_dns(domain)
        if not finding.is_proved:
            note(domain, finding.text, is_proved=False)
            return
        prove(domain, finding.text)
        ask_certificate(domain)
        self._start(lambda: self._ask_proxy(domain))

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
            data.close()
            self._threads.discard(threading.current_thread())
