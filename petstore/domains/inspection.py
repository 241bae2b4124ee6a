"""Looks at domains: when their owner asks, and from time to time, in threads."""

import logging
import threading
from concurrent import futures

import peewee

from petstore import clock
from petstore.database import data
from petstore.domains.certificates import shake_hands
from petstore.domains.dns import Finding, look
from petstore.domains.errands import Errands
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
from petstore.waiting import run_in_thread

# Look-ups for people. A project has one at a time, so those whose DNS is silent keep
# others from theirs only where there are as many of them.
MAX_VERIFYING = 16
# Handshakes, and domains that are looked at again.
MAX_ERRANDS = 16
MAX_ERRANDS_OF_ONE_PROJECT = 4
# So many requests wait for what DNS says, each in a thread, and so long.
MAX_WAITING = 8
WAIT_SECONDS = 5.0


log = logging.getLogger(__name__)


class Busy(Exception):
    """A domain of the project is being verified at this moment."""


class Inspection:
    """The eyes of the service; needs a base domain."""

    def __init__(self, settings: Settings) -> None:
        self.base_domain = settings.base_domain
        self._settings = settings
        self._due_ms = 0
        self._verifying = futures.ThreadPoolExecutor(MAX_VERIFYING)
        self._verdicts: set[futures.Future[bool]] = set()
        self._errands = Errands(MAX_ERRANDS, MAX_ERRANDS_OF_ONE_PROJECT)
        self._waiting = threading.Semaphore(MAX_WAITING)

    def address(self, project: Project) -> str:
        """The generated subdomain of a project."""
        return f"{project.slug}.{self.base_domain}"

    def wanted(self, domain: Domain) -> Wanted:
        """What DNS has to say of a domain."""
        token = DomainToken.of(domain.project)
        return Wanted(domain.name, self.address(domain.project), token)

    def verify(self, domain: Domain) -> bool | None:
        """Ask DNS now; whether it proves the domain, None while it has not answered.

        A domain that is proved gets its certificate afterwards. Raises `Busy`.
        """
        turn = DomainToken.begin_turn(domain.project_id)
        if turn is None:
            raise Busy
        verdict = self._verifying.submit(self._verify, domain, turn)
        self._verdicts.add(verdict)
        verdict.add_done_callback(self._close)
        return self._wait_for(verdict)

    def look_again(self, project: Project) -> None:
        """Look, without keeping anybody waiting, at what is due of the project."""
        self._errands.start(project.id, lambda: self._look_at_all(project))

    def pass_by(self) -> None:
        """Look at what is due of all projects, once an hour."""
        now = clock.now_ms()
        if now >= self._due_ms:
            self._due_ms = now + LOOK_AFTER_MS
            self._errands.start(None, lambda: self._look_at_all(None))

    def wait(self) -> None:
        """Return when everything that was begun has ended."""
        futures.wait(self._verdicts)
        self._errands.wait()

    def _verify(self, domain: Domain, turn: int) -> bool:
        try:
            is_proved = self._judge(domain)
        finally:
            DomainToken.end_turn(domain.project_id, turn)
            data.disconnect()
        if is_proved:
            self._errands.start(domain.project_id, lambda: self._ask_proxy(domain))
        return is_proved

    def _judge(self, domain: Domain) -> bool:
        finding = self._ask_dns(domain)
        if not finding.is_proved:
            note(domain, finding.text, is_proved=False)
            return False
        prove(domain, finding.text)
        ask_certificate(domain)
        return True

    def _wait_for(self, verdict: futures.Future[bool]) -> bool | None:
        if not self._waiting.acquire(blocking=False):
            return None
        try:
            return run_in_thread(verdict.result, WAIT_SECONDS)
        except TimeoutError:
            return None
        finally:
            self._waiting.release()

    def _close(self, verdict: futures.Future[bool]) -> None:
        self._verdicts.discard(verdict)
        error = verdict.exception()
        # A domain may be removed, and a database be lost meanwhile.
        if error and not isinstance(error, (peewee.DatabaseError, peewee.DoesNotExist)):
            log.error("internal_error", exc_info=error)

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
