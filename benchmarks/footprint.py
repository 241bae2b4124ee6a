"""Measure the memory of a worker under load, and the time to the first answer.

    python -m benchmarks.footprint --store sqlite

Needs wrk. The services are started on loopback, on migrated databases.
"""

import time

from benchmarks.rounds import options, print_heads, print_row, spread
from benchmarks.stage import Stage, send, stage
from benchmarks.tenants import settle
from benchmarks.wrk import Case, run


def main() -> None:
    """Print a line for each store."""
    chosen = options(__doc__, rounds=3)
    print_heads("Store", "Seconds to the first answer", "MiB of a worker")
    for store in chosen.stores:
        with stage(store) as place:
            key = settle(place)[0].key
            starts, sizes = zip(
                *(_start(place, key, chosen.seconds) for _ in range(chosen.rounds)),
                strict=True,
            )
            print_row(store, spread(min(starts), starts), spread(min(sizes), sizes, 0))


def _start(place: Stage, key: str, seconds: int) -> tuple[float, float]:
    started = time.perf_counter()
    server = place.service()
    send(server, key)
    answered = time.perf_counter()
    for what in ("list", "create"):
        run(server, Case(what), seconds)
    [worker] = server.process.children()
    return answered - started, worker.memory_info().rss / 2**20


if __name__ == "__main__":
    main()
