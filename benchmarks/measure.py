"""Compare the service to the same job by hand: throughput, latency and CPU time.

    python -m benchmarks.measure --store sqlite list create

Needs wrk. The servers are started on loopback and measured in turns. The requests come
from 50 projects and vary all the time. The main result is the ratio to the baseline
(yardsticks/baseline.py: the same job by hand in one file) on the same server, which is
gunicorn's gevent worker, each at its least disturbed, with the lowest and the highest
ratio of the rounds; then comes that on gunicorn's threads. Both read requests with
gunicorn's parser in C. The CPU times of a request are that of the service, then those
of the baseline; the stores have columns of their own.
"""

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import GEVENT, GTHREAD, Server, Stage, send, stage
from benchmarks.tenants import issue_keys, settle
from benchmarks.wrk import Case, Figures, run

FEATURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
CASES = {
    "list": Case(),
    "get": Case("get"),
    "create": Case("create"),
    "create in one project": Case("create", who="one tenant"),
    "create, 64 connections": Case("create", connections=64),
    "create in one project, 64 connections": Case("create", "one tenant", 64),
}
HEADS = ("Ratio on gevent", "on threads", "Requests/s", "p50 ms", "p99 ms", "CPU µs")
SERVICE, ON_GEVENT, ON_THREADS = "service", "gevent", "threads"


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, CASES)
    for store in chosen.stores:
        with stage(store) as place:
            servers = _servers(place)
            print_heads(f"Case ({store})", *HEADS, *(f"of {s}" for s in place.stores))
            for name in chosen.cases:
                runs = {
                    each: lambda s=server, c=CASES[name]: run(s, c, chosen.seconds)
                    for each, server in servers.items()
                }
                print_row(name, *_cells(interleave(runs, chosen.rounds)))


def _servers(place: Stage) -> dict[str, Server]:
    tenants = settle(place)
    [spent, *_] = issue_keys(place, "spent", per_day=1)
    servers = {
        SERVICE: place.service(),
        ON_GEVENT: place.baseline(*GEVENT),
        ON_THREADS: place.baseline(*GTHREAD),
    }
    for server in servers.values():
        send(server, spent)
        _check(server, tenants[0].key, spent)
    return servers


def _check(server: Server, key: str, spent: str) -> None:
    """Check that the server does the work that is measured."""
    _, before, pets = send(server, key, "?limit=100")
    assert len(pets) == 100, "a list of 100 holds 100 animals"
    assert all(name in before for name in FEATURES), "the quota is shown"
    status, after, made = send(server, key, pet={"name": "Rex", "categoryId": 7})
    moved = int(before["X-RateLimit-Remaining"]) - int(after["X-RateLimit-Remaining"])
    assert (status, moved) == (201, 1), "the counter moves"
    assert send(server, key, f"/{made['id']}")[2] == made, "what was created is there"
    assert send(server, key[::-1])[0] == 401, "a mistyped key is refused"
    assert send(server, spent)[0] == 429, "a used-up quota is refused"


def _cells(rounds: list[dict[str, Figures]]) -> list[str]:
    service = [each[SERVICE] for each in rounds]
    cpu_us = [
        " / ".join(
            f"{min(each[server].cpu_us[name] for each in rounds):.0f}"
            for server in rounds[0]
        )
        for name in service[0].cpu_us
    ]
    return [
        _ratio(rounds, ON_GEVENT),
        _ratio(rounds, ON_THREADS),
        f"{max(each.rate for each in service):,.0f}",
        f"{min(each.p50_ms for each in service):.2f}",
        f"{min(each.p99_ms for each in service):.2f}",
        *cpu_us,
    ]


def _ratio(rounds: list[dict[str, Figures]], baseline: str) -> str:
    rates = [(each[SERVICE].rate, each[baseline].rate) for each in rounds]
    ours, others = zip(*rates, strict=True)
    return spread(max(ours) / max(others), (one / other for one, other in rates))


if __name__ == "__main__":
    main()
