"""Compare the service to a baseline: requests per second, latency and CPU time.

    python -m benchmarks.measure --rounds 9 --store sqlite list create

Needs wrk. The servers are started on loopback and measured in turns. The requests come
from 50 projects and vary all the time. The main result is the ratio to the baseline
(yardsticks/baseline.py: the same job by hand in one file), with the median, the lowest
and the highest of all rounds. The other columns are medians.
"""

from statistics import median

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, Stage, ask, stage
from benchmarks.tenants import Tenant, issue_keys, settle, write
from benchmarks.wrk import Case, Figures, run

FEATURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
CASES = {
    "list": Case(),
    "long list": Case("long list"),
    "list by status": Case("list by status"),
    "list of one project": Case(who="one tenant"),
    "get": Case("get"),
    "create": Case("create"),
    "create in one project": Case("create", who="one tenant"),
    "create on one connection": Case("create", connections=1),
    "mistyped key": Case(who="mistyped", is_refused=True),
    "unknown key": Case(who="unknown", is_refused=True),
    "used-up quota": Case(who="used up", is_refused=True),
}
HEADS = (
    "Case",
    "Ratio to baseline",
    "2 workers to 1",
    "Requests/s",
    "p50 ms",
    "p99/p50",
    "CPU µs",
    "CPU µs of baseline",
)

Rounds = list[dict[str, Figures]]


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, CASES)
    for store in chosen.stores:
        with stage(store) as place:
            servers = _servers(place)
            print_heads(f"{HEADS[0]} ({store})", *HEADS[1:], *map(_of, place.stores))
            for name in chosen.cases:
                runs = {
                    each: lambda s=server, c=CASES[name]: run(s, c, chosen.seconds)
                    for each, server in servers.items()
                }
                print_row(name, *_cells(interleave(runs, chosen.rounds)))


def _servers(place: Stage) -> dict[str, Server]:
    tenants = settle(place)
    spent = issue_keys(place, "spent", per_day=1)
    write(place.directory / "used up", map(Tenant, spent))
    servers = {
        "service": place.service(),
        "2 workers": place.service(workers=2),
        "baseline": place.baseline(),
    }
    for name in ("service", "baseline"):
        for key in spent:
            ask(servers[name], key)
    for server in servers.values():
        _check(server, tenants[0].key, spent[0])
    return servers


def _check(server: Server, key: str, spent: str) -> None:
    """Check that the server does the work that is measured."""
    _, before, pets = ask(server, key, "?limit=100")
    assert len(pets) == 100, "a list of 100 holds 100 animals"
    assert all(name in before for name in FEATURES), "the quota is shown"
    status, after, made = ask(server, key, pet={"name": "Rex", "categoryId": 7})
    moved = int(before["X-RateLimit-Remaining"]) - int(after["X-RateLimit-Remaining"])
    assert (status, moved) == (201, 1), "the counter moves"
    assert ask(server, key, f"/{made['id']}")[2] == made, "what was created is there"
    assert ask(server, key[::-1])[0] == 401, "a mistyped key is refused"
    assert ask(server, spent)[0] == 429, "a used-up quota is refused"


def _cells(rounds: Rounds) -> list[str]:
    service = [each["service"] for each in rounds]
    baseline_us = median(each["baseline"].cpu_us["server"] for each in rounds)
    own_us, *stores_us = (
        f"{median(figures.cpu_us[name] for figures in service):.0f}"
        for name in service[0].cpu_us
    )
    return [
        spread(each["service"].rate / each["baseline"].rate for each in rounds),
        spread(each["2 workers"].rate / each["service"].rate for each in rounds),
        f"{median(figures.rate for figures in service):,.0f}",
        f"{median(figures.p50_ms for figures in service):.2f}",
        f"{median(figures.tail for figures in service):.2f}",
        own_us,
        f"{baseline_us:.0f}",
        *stores_us,
    ]


def _of(program: str) -> str:
    return f"CPU µs of {program}"


if __name__ == "__main__":
    main()
