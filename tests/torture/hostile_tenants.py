"""A campaign in which two projects attack a third, which must not be affected."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import quantiles

from petstore.database import open_databases
from petstore.quotas.stores.database import Usage
from petstore.settings import read_settings
from tests import databases, servers
from tests.clients import Answer
from tests.hosts.dns_server import dns_server
from tests.load import load
from tests.torture.campaign import Outcome, Run
from tests.torture.databases import migrated_sqlite
from tests.torture.misdeeds import Hostile, Result
from tests.torture.tenants import BASE, DOMAIN, SECRET, Rows, Tenant, Victim

WORKERS = 2
NAMES = ("Mallory", "Eve")
PAUSE_SECONDS = 0.002
MOST_TIMES_THE_BASELINE = 2.0
# Smaller differences are noise of the machine.
NOISE_MS = 3.0
# The 99th percentile of fewer answers is meaningless.
LEAST_ANSWERS = 1_000
SHOWN = 200

Deed = Callable[[], Result]


def play(run: Run) -> Outcome:
    """Let two tenants attack while the victim reads; check that it is unaffected."""
    outcome = Outcome(trials=run.trials)
    with _environ(run) as environ, servers.gunicorn(run.directory, environ) as gunicorn:
        open_databases(read_settings(environ))
        try:
            victim = Victim.create()
            before = victim.rows()
            url = gunicorn.url.replace("127.0.0.1", BASE)
            answers = _attack(run, url, victim, outcome)
            outcome.faults += _changes(before, victim.rows())
            outcome.faults += _faults_of_quota(victim, answers)
        finally:
            databases.close()
        outcome.faults += ["a traceback"] * gunicorn.log.read_text().count("Traceback")
    return outcome


@contextmanager
def _environ(run: Run) -> Iterator[dict[str, str]]:
    with dns_server() as nameserver:
        nameserver.put(DOMAIN, "CNAME", f"victim.{BASE}")
        yield {
            "DATABASE_URL": migrated_sqlite(run.directory),
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(nameserver.address),
            "PETSTORE_TLS_ADDRESS": f"127.0.0.1:{servers.free_port()}",
        }


def _attack(run: Run, url: str, victim: Victim, outcome: Outcome) -> list[Answer]:
    """Let the tenants behave, then attack; return all answers to the victim."""
    tenants = [Tenant(url, name) for name in NAMES]
    # Each has its own random generator, since they run concurrently.
    everybody = [Hostile(t, victim, random.Random(run.dice.random())) for t in tenants]
    for tenant in tenants:
        tenant.sign_in()
    share = run.trials // len(tenants)
    calm = _answers(url, victim, [each.behave for each in everybody], share, outcome)
    during = _answers(url, victim, [each.act for each in everybody], share, outcome)
    for tenant in tenants:
        tenant.close()
    _judge_waits(calm, during, outcome)
    return calm + during


def _answers(
    url: str, victim: Victim, deeds: list[Deed], times: int, outcome: Outcome
) -> list[Answer]:
    """Return the answers to the victim while each deed is repeated."""

    def go_on(deed: Deed) -> None:
        for _ in range(times):
            outcome.faults += _faults_of(*deed(), victim)

    with (
        load(url, [victim.key], pause_seconds=PAUSE_SECONDS) as readers,
        ThreadPoolExecutor(len(deeds)) as pool,
    ):
        list(pool.map(go_on, deeds))
    return readers.answers


def _faults_of(answer: object, allowed: set[int], victim: Victim) -> list[str]:
    faults = []
    asked = f"{answer.request.method} {answer.request.path_url[:SHOWN]!r}"
    if answer.status_code not in allowed:
        faults.append(f"{asked} was answered {answer.status_code}")
    if any(text in answer.text for text in (SECRET, *victim.prefixes)):
        faults.append(f"{asked} told something of the victim")
    return faults


def _judge_waits(calm: list[Answer], during: list[Answer], outcome: Outcome) -> None:
    before, after = _p99_ms(calm), _p99_ms(during)
    is_judged = min(len(calm), len(during)) >= LEAST_ANSWERS
    if is_judged and after > MOST_TIMES_THE_BASELINE * before + NOISE_MS:
        outcome.faults.append(f"p99 was {before:.1f} ms, and then {after:.1f} ms")
    outcome.figures = {"p99_ms": round(before, 1), "p99_with_them_ms": round(after, 1)}


def _p99_ms(answers: list[Answer]) -> float:
    return quantiles([answer.seconds * 1000 for answer in answers], n=100)[98]


def _changes(before: Rows, after: Rows) -> list[str]:
    return [
        f"{name} of the victim has changed"
        for name in before
        if before[name] != after[name]
    ]


def _faults_of_quota(victim: Victim, answers: list[Answer]) -> list[str]:
    """Return whether the victim was refused or charged for other requests."""
    faults = [f"the victim got {a.status}" for a in answers if a.status != 200]
    rows = Usage.select().where(Usage.subject == f"project:{victim.project_id}")
    counted = sum(row.served + row.refused for row in rows)
    if counted != len(answers):
        faults.append(f"{counted} requests counted of the victim's {len(answers)}")
    return faults
