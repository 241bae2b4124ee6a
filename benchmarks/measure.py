"""Compare the service to a baseline: requests per second, latency and CPU time.

    python -m benchmarks.measure --store sqlite list create

Needs wrk. The servers are started on loopback and measured in turns. The requests come
from 50 projects and vary all the time. The main result is the ratio to the baseline
(yardsticks/baseline.py: the same job by hand in one file), each at its least disturbed,
with the lowest and the highest ratio of the rounds. The CPU times of a request are that
of the service, then that of the baseline; the stores have columns of their own.
"""

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, Stage, send, stage
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
HEADS = ("Ratio to baseline", "Requests/s", "p50 ms", "p99 ms", "CPU µs")


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
    servers = {"service": place.service(), "baseline": place.baseline()}
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
    service, baseline = (
        [each[name] for each in rounds] for name in ("service", "baseline")
    )
    ratios = [
        one.rate / other.rate for one, other in zip(service, baseline, strict=True)
    ]
    rate = max(each.rate for each in service)
    cpu_us = [
        "{:.0f} / {:.0f}".format(
            *(min(each.cpu_us[name] for each in runs) for runs in (service, baseline))
        )
        for name in service[0].cpu_us
    ]
    return [
        spread(rate / max(each.rate for each in baseline), ratios),
        f"{rate:,.0f}",
        f"{min(each.p50_ms for each in service):.2f}",
        f"{min(each.p99_ms for each in service):.2f}",
        *cpu_us,
    ]


if __name__ == "__main__":
    main()
