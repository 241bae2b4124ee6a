"""A campaign in which two projects attack a third, which must not be affected."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import requests

from petstore.quotas.storages.database import Counter
from tests.harness import servers
from tests.harness.campaign import Bound, Run
from tests.harness.clients import Answer
from tests.harness.dns_server import dns_server
from tests.harness.load import load
from tests.harness.patience import PATIENT
from tests.harness.stage import deployed, opened
from tests.torture.attacks import Attacker
from tests.torture.tenants import BASE, DOMAIN, SECRET, Rows, Tenant, Victim

NAMES = ("Mallory", "Eve")
ROUNDS = 3  # of each kind, in turn
PAUSE_SECONDS = 0.002
BOUND = Bound(times=2.0, noise_ms=3.0)
SHOWN = 200

Client = Callable[[], tuple[requests.Response, set[int]]]


def play(run: Run) -> None:
    """Let two tenants attack while the victim reads; check that it is unaffected."""
    with dns_server() as nameserver:
        nameserver.put(DOMAIN, "CNAME", f"victim.{BASE}")
        settings = {
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(nameserver.address),
            "PETSTORE_TLS_ADDRESS": f"127.0.0.1:{servers.free_port()}",
        }
        with (
            deployed(run, limits=PATIENT, **settings) as service,
            opened(service.gunicorn.environ["DATABASE_URL"]),
        ):
            victim = Victim.create()
            before = victim.rows()
            url = service.url.replace("127.0.0.1", BASE)
            answers = _attack(run, url, victim)
            run.faults += _changes(before, victim.rows())
            run.faults += _faults_of_quota(victim, answers)
            run.faults += service.gunicorn.tracebacks()
    run.done = run.trials


def _attack(run: Run, url: str, victim: Victim) -> list[Answer]:
    """Let the tenants behave, then attack, in turn; return all answers to the victim.

    Each tenant has its own random generator, since they run concurrently.
    """
    tenants = [Tenant(url, name) for name in NAMES]
    everybody = [Attacker(t, victim, random.Random(run.dice.random())) for t in tenants]
    share = run.trials // len(tenants) // ROUNDS
    answers: list[Answer] = []

    def read(is_attacked: bool) -> list[float]:
        clients = [each.attack if is_attacked else each.behave for each in everybody]
        found = _answers(run, url, victim, clients, share)
        answers.extend(found)
        return [answer.seconds for answer in found]

    with ExitStack() as stack:
        for tenant in tenants:
            stack.callback(tenant.close)
        run.compare(ROUNDS, read, BOUND)
    return answers


def _answers(
    run: Run, url: str, victim: Victim, clients: list[Client], times: int
) -> list[Answer]:
    """Return the answers to the victim while the clients send requests."""

    def go_on(client: Client) -> None:
        for _ in range(times):
            run.faults += _faults_of(*client(), victim)

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
    counted = Counter.get_by_id(f"project:{victim.project_id}").long_used
    if counted != len(answers):
        faults.append(f"{counted} requests counted of the victim's {len(answers)}")
    return faults
