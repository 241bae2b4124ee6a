"""A campaign that loses nodes of a Redis Cluster under load."""

import time
from contextlib import ExitStack
from itertools import pairwise

from petstore.database import open_databases
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests import databases, servers
from tests.clusters import Cluster, Server, cluster
from tests.load import Load, load
from tests.torture.campaign import Outcome, Run
from tests.torture.databases import migrated_sqlite
from tests.torture.pulse import pulse

LIMIT = 10**6
AMPLE = Plan("enterprise", LIMIT, LIMIT)
WARM_SECONDS = 0.4
AWAY_SECONDS = (0.3, 1.5)
BACK_SECONDS = 1.0
PATIENCE_SECONDS = 0.25
MOSTLY = 0.5


def play(run: Run) -> Outcome:
    """Kill or hang a random node in each trial, with one client per node."""
    outcome = Outcome()
    calm, answers, slowest = 0, 0, 0.0
    with ExitStack() as stack:
        nodes = stack.enter_context(cluster(run.directory))
        environ = {
            "DATABASE_URL": migrated_sqlite(run.directory),
            "REDIS_URL": nodes.url,
            "WEB_CONCURRENCY": "2",
        }
        service = stack.enter_context(servers.gunicorn(run.directory, environ))
        keys = _keys(environ, nodes)
        beats = stack.enter_context(pulse())
        for _ in range(run.trials):
            began_at = time.monotonic()
            lost = run.dice.randrange(len(nodes.nodes))
            with load(service.url, keys) as clients:
                clients.run(WARM_SECONDS)
                _lose(clients, nodes.nodes[lost], run)
                nodes.wait_until_whole()
                clients.run(BACK_SECONDS)
            outcome.trials += 1
            outcome.faults += [f"status {s}" for s in clients.statuses() - {200}]
            if beats.was_calm(began_at):
                calm += 1
                others = [key for key in keys if key != keys[lost]]
                outcome.faults += _faults(clients, others)
            answers += len(clients.answers)
            slowest = max(slowest, clients.slowest())
    outcome.figures = {
        "calm": calm,
        "requests": answers,
        "slowest_ms": round(slowest * 1000),
    }
    return outcome


def _keys(environ: dict[str, str], nodes: Cluster) -> list[str]:
    """Return a key of a project on each node, in the order of the nodes."""
    keys: dict[int, str] = {}
    open_databases(read_settings(environ))
    while len(keys) < len(nodes.nodes):
        project = Project.add("Shelter", None, AMPLE)
        keys[nodes.nodes.index(nodes.node_of(f"project:{project.id}"))] = Key.issue(
            project
        )
    databases.close()
    return [keys[place] for place in sorted(keys)]


def _lose(clients: Load, node: Server, run: Run) -> None:
    seconds = run.dice.uniform(*AWAY_SECONDS)
    if run.dice.random() < 0.5:
        node.kill()
        clients.run(seconds)
        node.start()
    else:
        node.hang()
        clients.run(seconds)
        node.go_on()


def _faults(clients: Load, counted: list[str]) -> list[str]:
    """Return late answers, and wrong counts of the given keys on other nodes."""
    faults = []
    if clients.slowest() > PATIENCE_SECONDS:
        faults.append(f"{clients.slowest() * 1000:.0f} ms")
    for key in counted:
        # A node that is too busy to answer in time counts as lost for a moment, so
        # ignore what a worker counted in memory.
        left = [left for left in clients.left(key) if left > LIMIT // 2]
        if any(later >= sooner for sooner, later in pairwise(left)):
            faults.append("the count of a project on another node was reset")
        if len(left) < MOSTLY * len(clients.left(key)):
            faults.append("a project on another node was counted alone")
    return faults
