"""The campaigns of bursts over all hosts: exactly the limit is served."""

import random
from contextlib import ExitStack
from itertools import cycle, islice

from petstore.models.projects import Plan
from tests.harness import servers
from tests.harness.crowds import send_at_once, served_by_minute
from tests.harness.patience import PATIENT
from tests.harness.services import issue_key, serving
from tests.torture.campaign import Campaign, Run
from tests.torture.stage import database

CLIENTS = 64
PLENTY = 10**6
# Engine, whether there is Redis, number of hosts, workers per host.
DEPLOYMENTS = {
    "sqlite, 8 workers": ("sqlite", False, 1, 8),
    "postgresql, 2 hosts": ("postgresql", False, 2, 4),
    "redis, 2 hosts": ("postgresql", True, 2, 4),
}


def _bursts(run: Run, engine: str, has_redis: bool, hosts: int, workers: int) -> None:
    with ExitStack() as stack:
        environ = {"DATABASE_URL": stack.enter_context(database(engine, run))}
        if has_redis:
            environ["REDIS_URL"] = stack.enter_context(servers.redis(run.directory))
        environ["WEB_CONCURRENCY"] = str(workers)
        # All workers are up before the first burst.
        services = [
            serving(run.directory, environ, "--preload", limits=PATIENT)
            for _ in range(hosts)
        ]
        urls = [stack.enter_context(service).url for service in services]
        for _ in run.each_trial():
            run.faults += burst(run.dice, environ, urls)


def burst(
    dice: random.Random,
    environ: dict[str, str],
    urls: list[str],
    clients: int = CLIENTS,
) -> list[str]:
    """Exceed a minute or day limit with concurrent requests; return the faults."""
    limit = dice.randrange(1, clients)
    plan = dice.choice([(limit, PLENTY), (PLENTY, limit)])
    key = issue_key(environ, Plan("enterprise", *plan))
    answers = send_at_once(islice(cycle(urls), clients), key)
    unexpected = {answer.status for answer in answers} - {200, 429}
    faults = [f"answered {status}" for status in unexpected]
    for sent, served in served_by_minute(answers):
        # A burst that crosses into the next window has the full limit in each.
        if served != min(sent, limit):
            faults.append(f"{served} served of {sent}, with a limit of {limit}")
    return faults


QUOTAS = tuple(
    Campaign(f"quota: {name}", 200, 10, lambda run, it=deployment: _bursts(run, *it))
    for name, deployment in DEPLOYMENTS.items()
)
