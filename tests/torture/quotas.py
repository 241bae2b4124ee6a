"""The campaigns of bursts over all hosts: exactly the limit is served."""

from contextlib import ExitStack

from tests.harness import servers
from tests.harness.bursts import burst
from tests.harness.campaign import Campaign, Run
from tests.harness.patience import PATIENT
from tests.harness.services import serving
from tests.harness.stage import database

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


QUOTAS = tuple(
    Campaign(f"quota: {name}", 200, 10, lambda run, it=deployment: _bursts(run, *it))
    for name, deployment in DEPLOYMENTS.items()
)
