"""Measure latency at 70 % of the service's throughput.

    python -m benchmarks.latency --store sqlite list

Needs wrk. The service is started on loopback. Each round measures the requests per
second of 64 connections, then sends 70 % of that on a schedule, which does not wait for
answers as long as a connection is free: once at even intervals, and once at random
times, like independent clients. At random times requests queue: p99/p50 is 4.3 even if
every request takes exactly the same time. The output is the median, the lowest and the
highest of all rounds.
"""

import time

from benchmarks.rounds import options, print_heads, print_row, spread
from benchmarks.stage import Server, ask, stage
from benchmarks.tenants import settle
from benchmarks.wrk import Case, Figures, run

LOAD = 0.7
SETTLE_SECONDS = 0.5  # for the service to handle what is left of the saturating load
CONNECTIONS = 64
ARRIVALS = ("evenly", "random")
CASES = ("list", "get", "create")


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, CASES, rounds=5, seconds=2)
    for store in chosen.stores:
        with stage(store) as place:
            tenants = settle(place)
            server = place.service()
            assert len(ask(server, tenants[0].key)[2]) == 20
            heads = ("Arrivals", "% of saturation", "p50 ms", "p99 ms", "p99/p50")
            print_heads(f"Case ({store})", *heads)
            for name in chosen.cases:
                _measure(server, name, chosen.rounds, chosen.seconds)


def _measure(server: Server, name: str, rounds: int, seconds: int) -> None:
    case = Case(name, connections=CONNECTIONS)

    def at_load() -> dict[str, tuple[float, Figures]]:
        most = run(server, case, seconds).rate
        time.sleep(SETTLE_SECONDS)
        found = {}
        for arrivals in ARRIVALS:
            figures = run(server, case, seconds, LOAD * most, arrivals)
            found[arrivals] = (figures.rate / most, figures)
        return found

    found = [at_load() for _ in range(rounds)]
    for arrivals in ARRIVALS:
        loads, figures = zip(*(each[arrivals] for each in found), strict=True)
        print_row(
            name,
            arrivals,
            spread((100 * load for load in loads), 0),
            spread(each.p50_ms for each in figures),
            spread(each.p99_ms for each in figures),
            spread(each.tail for each in figures),
        )


if __name__ == "__main__":
    main()
