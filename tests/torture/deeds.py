"""The campaigns in which pairs of deeds race for animals."""

from collections import Counter
from contextlib import ExitStack
from functools import partial

from tests.harness.campaign import Campaign, Run
from tests.harness.clients import Client
from tests.harness.deeds import PAIRS, Pair
from tests.harness.services import issue_key, serving
from tests.harness.stage import database

TIMES = 1_000  # each pair
ANIMALS = 100  # at most, one after the other in a project
HOSTS = {"sqlite": (1, 4), "postgresql": (2, 2)}  # and workers of each


def _play(run: Run, engine: str) -> None:
    hosts, workers = HOSTS[engine]
    times = max(1, run.trials // len(PAIRS))
    both_ways = set()
    with ExitStack() as stack:
        url = stack.enter_context(database(engine, run))
        environ = {"DATABASE_URL": url, "WEB_CONCURRENCY": str(workers)}
        urls = [
            stack.enter_context(serving(run.directory, environ, limits=run.limits)).url
            for _ in range(hosts)
        ]
        for pair in PAIRS:
            for first in range(0, times, ANIMALS):
                count = min(ANIMALS, times - first)
                if _race(run, environ, urls, pair, count):
                    both_ways.add(pair.name)
    run.figures["pairs_both_ways"] = len(both_ways)


def _race(
    run: Run, environ: dict[str, str], urls: list[str], pair: Pair, count: int
) -> bool:
    """Race in a project of its own; return whether either side was first at times."""
    key = issue_key(environ)
    with Client(urls[0], key) as first, Client(urls[-1], key) as second:
        expected = pair.expected(first)
        found = Counter(pair.race([first, second], count))
    for result in found.keys() - expected:
        run.faults.append(f"{found[result]} times, {pair.name}: {result}")
    run.done += count
    return len(found.keys() & expected) > 1


DEEDS = tuple(
    Campaign(
        f"racing deeds on {engine}",
        TIMES * len(PAIRS),
        len(PAIRS),
        partial(_play, engine=engine),
    )
    for engine in HOSTS
)
