"""The campaigns that break the stores behind the service while clients use it."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from tests.harness.campaign import Campaign, Run
from tests.harness.clients import PETS, Answer
from tests.harness.clusters import Server, cluster
from tests.harness.load import Load, countdown, load
from tests.harness.postgres import Postgres, postgres
from tests.harness.proxies import Proxy, proxy
from tests.harness.servers import free_port
from tests.harness.services import Service, issue_key, serving
from tests.harness.stage import WORKERS, deployed
from tests.harness.waiting import wait_until
from tests.torture.pulse import pulse

CLIENTS = 6  # each with a project of its own
PAUSE_SECONDS = 0.02
WARM_SECONDS = 0.4
AWAY_SECONDS = (0.05, 1.2)
FLAP_SECONDS = (0.1, 0.3)
FLAPS = 4  # in two seconds, as each is tried again after half a second
BACK_WITHIN_SECONDS = 1.0
SETTLED_SECONDS = 2.2  # until the end of an outage has been logged
# The longest response times: without counters; where connecting to the database
# fails; and where nothing answers.
COUNTED_SECONDS, REFUSED_SECONDS, HUNG_SECONDS = 0.25, 0.3, 2.5


class Fault(NamedTuple):
    """A function that breaks and mends something, and the longest response time."""

    inject: Callable[[], None]
    limit_seconds: float = COUNTED_SECONDS
    name: str = ""


class Trial(NamedTuple):
    """A fault that was injected and mended, with the times, on a calm machine."""

    fault: Fault
    events_before: int
    back_at: float


def calm_trials(
    run: Run, service: Service, clients: Load, faults: list[Fault]
) -> Iterator[Trial]:
    """Inject the faults in turn, each followed by some seconds without one.

    The response times of the clients are checked if the machine was calm.
    """
    run.figures["calm"] = 0
    with pulse() as beats:
        for number in run.each_trial():
            # If the machine stalled, the last outage may end late.
            wait_until(lambda: _is_over(service), "the outage goes on")
            began_at, events = time.monotonic(), len(_events(service))
            fault = faults[number % len(faults)]
            clients.run(WARM_SECONDS)
            fault.inject()
            back_at = time.monotonic()
            clients.run(run.limit(BACK_WITHIN_SECONDS) + SETTLED_SECONDS)
            if beats.was_calm(began_at):
                run.figures["calm"] += 1
                run.faults += _late(run, clients.since(began_at), fault)
                yield Trial(fault, events, back_at)
    run.figures["requests"] = len(clients.answers)
    run.figures["slowest_ms"] = round(clients.slowest() * 1000)


def _late(run: Run, answers: list[Answer], fault: Fault) -> list[str]:
    limit = run.limit(fault.limit_seconds)
    return [
        f"{answer.status} after {answer.seconds * 1000:.0f} ms, "
        f"{fault.name or fault.inject}"
        for answer in answers
        if answer.seconds > limit
    ]


def _events(service: Service) -> list[str]:
    """Return each event of the log about the counters."""
    return [line["event"] for line in service.events("counters_")]


def _is_over(service: Service) -> bool:
    return _events(service)[-1:] in ([], ["counters_restored"])


def _away(run: Run) -> None:
    time.sleep(run.dice.uniform(*AWAY_SECONDS))


def _hang(run: Run, server: Any) -> None:
    """Let the server accept connections without answering."""
    server.hang()
    _away(run)
    server.go_on()


def _drop(run: Run, network: Proxy) -> None:
    """Withhold all traffic."""
    network.drop()
    _away(run)
    network.restore()


def counter_outages(run: Run) -> None:
    """Break Redis, and the network in front of it, in each way in turn."""
    redis = Server(free_port(), run.directory / "redis")
    with redis, proxy(redis.port) as network:
        faults = [_restart, _slow, _drop, _hang, _flap]
        targets = [redis, network, network, redis, network]
        url = f"redis://127.0.0.1:{network.port}/0"
        injected = map(partial, faults, [run] * len(faults), targets)
        without_counters(run, url, [Fault(inject) for inject in injected])


def _restart(run: Run, redis: Server) -> None:
    """Kill the server and start it again without its data."""
    redis.kill()
    _away(run)
    redis.start()


def _slow(run: Run, network: Proxy) -> None:
    """Delay answers: first within the time limit, then beyond it, then randomly."""
    for least, most in ((0.08, 0.08), (0.15, 0.4), (0.02, 0.4)):
        network.delay = partial(run.dice.uniform, least, most)
        _away(run)
    network.restore()


def _flap(run: Run, network: Proxy) -> None:
    """Withhold and restore the traffic several times a second."""
    ends = time.monotonic() + run.dice.uniform(1, 2)
    while time.monotonic() < ends:
        network.drop()
        time.sleep(run.dice.uniform(*FLAP_SECONDS))
        network.restore()
        time.sleep(run.dice.uniform(*FLAP_SECONDS))


def lost_cluster_nodes(run: Run) -> None:
    """Kill or hang a random node of a Redis Cluster in each trial."""
    with cluster(run.directory) as nodes:

        def lose(how: Callable[[Run, Server], None]) -> None:
            how(run, run.dice.choice(nodes.nodes))
            nodes.wait_until_whole()

        faults = [Fault(partial(lose, how)) for how in (_restart, _hang)]
        without_counters(run, nodes.url, faults)


def without_counters(run: Run, url: str, faults: list[Fault]) -> None:
    """Require that all requests are served, and that counts are exact again."""
    with deployed(run, REDIS_URL=url) as service:
        keys = [issue_key(service.gunicorn.environ) for _ in range(CLIENTS)]
        with load(service.url, keys, pause_seconds=PAUSE_SECONDS) as clients:
            for trial in calm_trials(run, service, clients, faults):
                events = _events(service)[trial.events_before :]
                # Each worker logs it, unless every hit was answered in time. One that
                # comes and goes is several.
                lost, restored = map(
                    events.count, ("counters_lost", "counters_restored")
                )
                run.require(
                    lost == restored <= WORKERS * FLAPS,
                    f"{events} in the log, {trial.fault.inject}",
                )
                exact_at = trial.back_at + run.limit(BACK_WITHIN_SECONDS)
                for left in (clients.left(key, exact_at) for key in keys):
                    run.require(
                        left == countdown(left), f"not exact, {trial.fault.inject}"
                    )
    run.faults += [f"status {status}" for status in clients.statuses() - {200}]


def database_outages(run: Run) -> None:
    """Stop PostgreSQL, suspend it, and break its connections, in turn."""
    recoveries = [0.0]
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        network = stack.enter_context(proxy(server.port))
        environ = {"DATABASE_URL": server.url_at(network.port), "WEB_CONCURRENCY": "2"}
        service = stack.enter_context(serving(run.directory, environ))
        faults = [
            Fault(partial(_stop, run, server, "fast"), REFUSED_SECONDS),
            Fault(partial(_drop, run, network), HUNG_SECONDS),
            Fault(partial(_cut, run, server), REFUSED_SECONDS),
            Fault(partial(_hang, run, server), HUNG_SECONDS),
            Fault(partial(_stop, run, server, "immediate"), REFUSED_SECONDS),
        ]
        keys, pause = [service.key] * CLIENTS, PAUSE_SECONDS
        with load(service.url, keys, adds=True, pause_seconds=pause) as clients:
            for trial in calm_trials(run, service, clients, faults):
                answers = clients.since(trial.back_at)
                refused_at = [a.sent_at for a in answers if a.status == 503]
                recoveries += [sent_at - trial.back_at for sent_at in refused_at]
        with service.client() as client:
            kept = Counter(pet["name"] for pet in client.all_of(PETS))
        run.require(not service.gunicorn.tracebacks(), "a traceback in the log")
    slowest = max(recoveries)
    is_back = slowest <= run.limit(BACK_WITHIN_SECONDS)
    run.require(is_back, f"not back after {slowest:.2f} s")
    refused = [answer for answer in clients.answers if answer.status == 503]
    says_when = all(answer.headers["Retry-After"] for answer in refused)
    run.require(says_when, "503 without Retry-After")
    statuses = clients.statuses() - {200, 201, 503}
    run.faults += [f"status {status}" for status in statuses]
    run.lost = sum(not kept[name] for name in clients.added)
    run.duplicated = kept.total() - len(kept)
    run.figures |= {"503s": len(refused), "back_after_ms": round(slowest * 1000)}


def _stop(run: Run, server: Postgres, mode: str) -> None:
    server.stop(mode)
    _away(run)
    server.start()


def _cut(run: Run, server: Postgres) -> None:
    """Break every connection, once or a few times."""
    for _ in range(run.dice.randrange(1, 4)):
        server.cut()


OUTAGES = (
    Campaign("counter outages", 30, 5, counter_outages),
    Campaign("lost cluster nodes", 10, 2, lost_cluster_nodes),
    Campaign("database outages", 20, 5, database_outages),
)
