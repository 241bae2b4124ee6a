"""Memory of a worker, and how soon a service answers.

    python -m benchmarks.footprint

It aims at services that it starts on loopback, on migrated databases.
"""

import time
from statistics import median

from benchmarks.stage import STORES, ask, fill, stage

STARTS = 5
REQUESTS = 2_000


def main() -> None:
    """Measure on both stores, and print a line for each."""
    for store in STORES:
        with stage(store) as place:
            key = place.key("bench")
            starts = []
            for _ in range(STARTS):
                started = time.perf_counter()
                server = place.service()
                ask(f"{server.url}/v1/pets", key)
                starts.append(time.perf_counter() - started)
            fill(server, key)
            for _ in range(REQUESTS):
                ask(f"{server.url}/v1/pets", key)
            [worker] = server.process.children()
            memory = worker.memory_info().rss / 2**20
            print(
                f"{store:10}  {median(starts):.2f} s until the first answer"
                f"  {memory:.0f} MB a worker"
            )


if __name__ == "__main__":
    main()
