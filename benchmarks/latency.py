"""Measure the latency at a fixed rate and at 70 % of capacity, and the CPU time.

    python -m benchmarks.latency --store sqlite list

Needs wrk. The service is started on loopback. Capacity is what 64 connections can get
answered at full speed. Then requests are due at even intervals, whether responses have
come or not, as long as a connection is free. The output is the least disturbed of all
rounds, with the lowest and the highest. The CPU time of a request is that of the
service, then those of the stores.
"""

from benchmarks.load import Figures, options, print_heads, print_row, run, spread
from benchmarks.requests import Crowd
from benchmarks.stage import GUNICORN, stage

FIXED_RATE = 100  # requests per second
PART = 0.7  # of capacity
CONNECTIONS = 64
SATURATING_RUNS = 3


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, rounds=15)
    for store in chosen.stores:
        with (
            stage(store, proxies=1) as place,
            place.running((*GUNICORN, "wsgi:app")) as server,
        ):
            crowd = Crowd(place)
            cpu = [f"CPU µs, {name}" for name in ("service", *place.stores)]
            print_heads(f"Case ({store})", "Requests/s", "p50 ms", "p99 ms", *cpu)
            for case in chosen.cases:
                sent = {"requests": crowd.write(case), "seconds": chosen.seconds}
                sent |= {"place": place, "server": server, "connections": CONNECTIONS}
                full = [run(**sent).rate for _ in range(SATURATING_RUNS)]
                for rate in (FIXED_RATE, PART * max(full)):
                    rounds = [run(**sent, rate=rate) for _ in range(chosen.rounds)]
                    print_row(case, *_cells(rounds))


def _cells(rounds: list[Figures]) -> list[str]:
    columns = [
        ([each.p50_ms for each in rounds], 2),
        ([each.p99_ms for each in rounds], 2),
        *(([each.cpu_us[name] for each in rounds], 0) for name in rounds[0].cpu_us),
    ]
    rate = f"{max(each.rate for each in rounds):,.0f}"
    return [rate, *(spread(min(values), values, digits) for values, digits in columns)]


if __name__ == "__main__":
    main()
