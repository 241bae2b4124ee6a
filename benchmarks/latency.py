"""Measure latency at 70 % of the service's throughput, and of reads beside writes.

    python -m benchmarks.latency --store sqlite list

Needs wrk. The service is started on loopback. wrk first sends as fast as 64 connections
can, then 70 % of that at even intervals, without waiting for responses as long as a
connection is free. Reads (lists and gets) are sent at half of their throughput, alone
and beside a ninth as many writes (creates and orders), so the difference is the waiting
that writes cause. The output is the least disturbed of all rounds, with the highest.
"""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, send, stage
from benchmarks.tenants import Tenant, settle, write
from benchmarks.wrk import Case, Figures, run

READS, WRITES = Case("read"), Case("write", who="writers")
WRITES_PER_READ = 1 / 9
BESIDE = "reads beside writes"
# What is sent, and at which part of its throughput.
LOADS = {
    "list": (Case("list", connections=64), 0.7),
    "get": (Case("get", connections=64), 0.7),
    "create": (Case("create", connections=64), 0.7),
    "reads alone": (READS, 0.5),
    BESIDE: (READS, 0.5),
}
SATURATING_RUNS = 3
# An animal can be ordered only once, so each run has its own animals.
ORDERS_PER_SECOND = 30  # at most, per project
ANIMALS_PER_ORDER = 3  # of which one is available


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, LOADS)
    for store in chosen.stores:
        with stage(store) as place:
            stock = ANIMALS_PER_ORDER * ORDERS_PER_SECOND * chosen.seconds
            tenants = settle(place, animals=stock * chosen.rounds)
            server = place.service()
            assert len(send(server, tenants[0].key)[2]) == 20
            stocks = _stocks(tenants, stock)
            rates = {
                load: _rate(server, *load, chosen.seconds)
                for load in {LOADS[name] for name in chosen.cases}
            }
            runs = {
                name: _load(server, name, rates[LOADS[name]], stocks, chosen.seconds)
                for name in chosen.cases
            }
            print_heads(f"Case ({store})", "Requests/s", "p50 ms", "p99 ms", "p99/p50")
            rounds = interleave(runs, chosen.rounds)
            for case in chosen.cases:
                print_row(case, *_cells([each[case] for each in rounds]))


def _stocks(tenants: list[Tenant], animals: int) -> Iterator[list[Tenant]]:
    """Yield the tenants, each time with another range of that many animals."""
    for number in itertools.count():
        yield [t._replace(first=t.first + number * animals * t.step) for t in tenants]


def _rate(server: Server, case: Case, load: float, seconds: int) -> float:
    """Return that part of the requests per second at full speed."""
    return load * max(run(server, case, seconds).rate for _ in range(SATURATING_RUNS))


def _load(
    server: Server, name: str, rate: float, stocks: Iterator[list[Tenant]], seconds: int
) -> Callable[[], Figures]:
    """Return a function that sends requests at that rate."""
    case, _ = LOADS[name]

    def alone() -> Figures:
        return run(server, case, seconds, rate)

    def beside_writes() -> Figures:
        write(server.place.directory / WRITES.who, next(stocks))
        with ThreadPoolExecutor(1) as pool:
            writes = pool.submit(run, server, WRITES, seconds, rate * WRITES_PER_READ)
            reads = alone()
            writes.result()
        return reads

    return beside_writes if name == BESIDE else alone


def _cells(found: list[Figures]) -> list[str]:
    p50, p99, tail = (
        [getattr(each, name) for each in found] for name in ("p50_ms", "p99_ms", "tail")
    )
    return [
        f"{max(each.rate for each in found):,.0f}",
        spread(min(p50), p50),
        spread(min(p99), p99),
        spread(min(tail), tail),
    ]


if __name__ == "__main__":
    main()
