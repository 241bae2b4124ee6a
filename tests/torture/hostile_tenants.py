"""A campaign in which two projects attack a third, which must not be affected."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import requests

from petstore.quotas.stores.database import Usage
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases, servers
from tests.harness.clients import Answer
from tests.harness.dns_server import dns_server
from tests.harness.load import load
from tests.torture.attacks import Attacker
from tests.torture.campaign import Bound, Outcome, Run, p99
from tests.torture.stage import migrated_sqlite
from tests.torture.tenants import BASE, DOMAIN, SECRET, Rows, Tenant, Victim

WORKERS = 2
NAMES = ("Mallory", "Eve")
ROUNDS = 3  # of each kind, in turn
PAUSE_SECONDS = 0.002
BOUND = Bound(times=2.0, noise_ms=3.0)
SHOWN = 200

Client = Callable[[], tuple[requests.Response, set[int]]]


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
            **servers.PATIENT,
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(nameserver.address),
            "PETSTORE_TLS_ADDRESS": f"127.0.0.1:{servers.free_port()}",
        }


def _attack(run: Run, url: str, victim: Victim, outcome: Outcome) -> list[Answer]:
    """Let the tenants behave, then attack; return all answers to the victim."""
    tenants = [Tenant(url, name) for name in NAMES]
    # Each has its own random generator, since they run concurrently.
    everybody = [Attacker(t, victim, random.Random(run.dice.random())) for t in tenants]
    for tenant in tenants:
        tenant.sign_in()
    share = run.trials // len(tenants) // ROUNDS
    answers: list[Answer] = []
    p99s: dict[str, list[float]] = {"behave": [], "attack": []}
    for how in ("behave", "attack") * ROUNDS:
        clients = [getattr(each, how) for each in everybody]
        found = _answers(url, victim, clients, share, outcome)
        p99s[how].append(p99([answer.seconds * 1000 for answer in found]))
        answers += found
    for tenant in tenants:
        tenant.close()
    outcome.compare(run, p99s["behave"], p99s["attack"], BOUND)
    return answers


def _answers(
    url: str, victim: Victim, clients: list[Client], times: int, outcome: Outcome
) -> list[Answer]:
    """Return the answers to the victim while the clients send requests."""

    def go_on(client: Client) -> None:
        for _ in range(times):
            outcome.faults += _faults_of(*client(), victim)

    with (
        load(url, [victim.key], pause_seconds=PAUSE_SECONDS) as readers,
        ThreadPoolExecutor(len(clients)) as pool,
    ):
        list(pool.map(go_on, clients))
    return readers.answers


def _faults_of(
    answer: requests.Response, allowed: set[int], victim: Victim
) -> list[str]:
    faults = []
    asked = f"{answer.request.method} {answer.request.path_url[:SHOWN]!r}"
    if answer.status_code not in allowed:
        faults.append(f"{asked} was answered {answer.status_code}")
    # A redirect to the sign-in page repeats the path that was asked for.
    sent = answer.request.path_url
    unknown = [SECRET, *(each for each in victim.prefixes if each not in sent)]
    if any(text in answer.text for text in unknown):
        faults.append(f"{asked} told something of the victim")
    return faults


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
