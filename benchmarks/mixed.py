"""Measure the latency of reads beside writes: 90 % reads, 10 % creates and orders.

    python -m benchmarks.mixed --store sqlite

Needs wrk. The service is started on loopback. One wrk reads (lists and gets of 50
projects), alone or beside another one that writes (creates and orders). At full speed
the reader sends as fast as its connections can, so the CPU time of the writes slows it
down, too. At half load both send at a fixed rate, the same alone and beside writes, so
the difference is the waiting that writes cause.
"""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, ask, stage
from benchmarks.tenants import Tenant, settle, write
from benchmarks.wrk import Case, Figures, run

READS, WRITES = Case("read"), Case("write", who="writers")
# Reads and writes per second, relative to the reads at full speed. Writes are more
# expensive: with 10 % of them, reads at full speed drop to about 0.8.
LOADS = {"half load": (0.5, 0.5 / 9), "full speed": (None, 0.8 / 9)}
HEADS = (
    "p99 beside writes to alone",
    "p99 ms alone",
    "p99 ms beside writes",
    "p50 ms alone",
    "p50 ms beside writes",
    "Reads/s beside writes",
    "Writes/s",
)
# An animal can be ordered only once, so each run has its own animals.
ORDERS_PER_SECOND = 30  # at most, per project
ANIMALS_PER_ORDER = 3  # of which one is available


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, LOADS, seconds=2)
    for store in chosen.stores:
        with stage(store) as place:
            stock = ANIMALS_PER_ORDER * ORDERS_PER_SECOND * chosen.seconds
            runs = len(chosen.cases) * chosen.rounds
            tenants = settle(place, animals=stock * runs)
            server = place.service()
            assert len(ask(server, tenants[0].key)[2]) == 20
            stocks = _stocks(tenants, stock)
            print_heads(f"Load ({store})", *HEADS)
            for name in chosen.cases:
                load = _load(server, stocks, chosen.seconds, *LOADS[name])
                print_row(name, *_cells(interleave(load, chosen.rounds)))


def _stocks(tenants: list[Tenant], animals: int) -> Iterator[list[Tenant]]:
    """Yield the tenants, each time with another range of that many animals."""
    for number in itertools.count():
        yield [t._replace(first=t.first + number * animals * t.step) for t in tenants]


def _load(
    server: Server,
    stocks: Iterator[list[Tenant]],
    seconds: int,
    reads: float | None,
    writes: float,
) -> dict[str, Callable[[], tuple[Figures, ...]]]:
    most = median(run(server, READS, seconds).rate for _ in range(3))
    rate = reads and reads * most

    def alone() -> tuple[Figures]:
        return (run(server, READS, seconds, rate),)

    def beside_writes() -> tuple[Figures, Figures]:
        write(server.place.directory / WRITES.who, next(stocks))
        with ThreadPoolExecutor() as pool:
            writing = pool.submit(run, server, WRITES, seconds, writes * most)
            reading = pool.submit(run, server, READS, seconds, rate)
        return reading.result(), writing.result()

    return {"alone": alone, "beside writes": beside_writes}


def _cells(rounds: list[dict[str, tuple[Figures, ...]]]) -> list[str]:
    alone = [each["alone"][0] for each in rounds]
    beside, writes = zip(*(each["beside writes"] for each in rounds), strict=True)
    pairs = zip(beside, alone, strict=True)
    return [
        spread(one.p99_ms / other.p99_ms for one, other in pairs),
        f"{median(each.p99_ms for each in alone):.2f}",
        f"{median(each.p99_ms for each in beside):.2f}",
        f"{median(each.p50_ms for each in alone):.2f}",
        f"{median(each.p50_ms for each in beside):.2f}",
        f"{median(each.rate for each in beside):,.0f}",
        f"{median(each.rate for each in writes):,.0f}",
    ]


if __name__ == "__main__":
    main()
