"""Requests per second of the service beside yardsticks, interleaved in one run.

    make bench
    python -m benchmarks.measure --rounds 9 --store sqlite "list 20" get

It needs wrk, and aims at servers that it starts on loopback. Every answer is checked
before it is measured: status, number of animals, headers, counters that move; and
afterwards that what was acknowledged is in the database. What counts is the ratio to
the baseline (yardsticks/baseline.py: the same job by hand in one file): the median of
the ratios of all rounds. The other columns are medians, too.
"""

import argparse
from statistics import median

from benchmarks.stage import STORES, Server, Stage, ask, fill, stage
from benchmarks.wrk import Case, Figures, run

FEATURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
CASES = {
    "list 20": Case(),
    "list 100": Case("/v1/pets?limit=100"),
    "by status": Case("/v1/pets?status=pending"),
    "get": Case("/v1/pets/1"),
    "create": Case(posts=True),
    "401": Case(key="mistyped", is_refused=True),
    "429": Case(key="used up", is_refused=True),
}
YARDSTICKS = ("baseline", "constant", "bare")
HEADS = "to baseline  2 workers  p50 ms  p99/p50  CPU us (baseline)  requests/s"

Rounds = list[dict[str, Figures]]


def main() -> None:
    """Measure on one store or on both, and print a line a case."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=1)
    arguments.add_argument("--store", choices=STORES)
    arguments.add_argument("cases", nargs="*", metavar="CASE")
    chosen = arguments.parse_args()
    if unknown := set(chosen.cases) - set(CASES):
        arguments.error(f"no case is {unknown.pop()}; there are {', '.join(CASES)}")
    for store in [chosen.store] if chosen.store else STORES:
        with stage(store) as place:
            _measure(place, store, chosen)


def _measure(place: Stage, store: str, chosen: argparse.Namespace) -> None:
    keys = {"ample": place.key("ample"), "used up": place.key("used up", per_day="1")}
    keys["mistyped"] = keys["ample"][::-1]
    servers = {"service": place.service(), "2 workers": place.service(workers=2)}
    servers |= {name: place.yardstick(name) for name in YARDSTICKS}
    fill(servers["service"], keys["ample"])
    for name in ("service", "baseline"):
        ask(f"{servers[name].url}/v1/pets", keys["used up"])
    for name in ("service", "2 workers", "baseline"):
        _check(servers[name], keys["ample"])
    print(f"{store:10}  {HEADS}", flush=True)
    for name in chosen.cases or CASES:
        case = CASES[name]
        # Two of the yardsticks answer the same to everything.
        asked = list(servers) if name == "list 20" else list(servers)[:3]
        rounds = [
            {
                each: _run(place, servers[each], case, keys[case.key], chosen.seconds)
                for each in asked
            }
            for _ in range(chosen.rounds)
        ]
        print(f"{name:10}  {_line(rounds)}", flush=True)


def _check(server: Server, key: str) -> None:
    pets, before = ask(f"{server.url}/v1/pets?limit=100", key)
    assert len(pets) == 100, "a list of 100 holds 100 animals"
    assert all(name in before for name in FEATURES), "the quota is shown"
    rex = {"name": "Rex", "categoryId": 7}
    made, after = ask(f"{server.url}/v1/pets", key, rex)
    moved = int(before["X-RateLimit-Remaining"]) - int(after["X-RateLimit-Remaining"])
    assert moved == 1, "the counter moves"
    found, _ = ask(f"{server.url}/v1/pets/{made['id']}", key)
    assert found == made, "what was created is there"


def _run(place: Stage, server: Server, case: Case, key: str, seconds: int) -> Figures:
    before = place.animals() if case.posts else 0
    figures = run(server, case, key, seconds)
    if case.posts:
        assert place.animals() - before >= figures.requests, "all are in the database"
    assert figures.refused == case.is_refused * figures.requests, figures
    return figures


def _line(rounds: Rounds) -> str:
    service = [each["service"] for each in rounds]
    rates = "  ".join(
        f"{name} {median(each[name].rate for each in rounds):,.0f}"
        for name in rounds[0]
    )
    baseline_us = median(each["baseline"].cpu_us for each in rounds)
    return (
        f"{_ratio(rounds, 'service', 'baseline'):11.2f}"
        f"{_ratio(rounds, '2 workers', 'service'):11.2f}"
        f"{median(figures.p50_ms for figures in service):8.2f}"
        f"{median(figures.p99_ms / figures.p50_ms for figures in service):9.2f}"
        f"{median(figures.cpu_us for figures in service):8.0f}"
        f" ({baseline_us:.0f})      {rates}"
    )


def _ratio(rounds: Rounds, one: str, other: str) -> float:
    return median(each[one].rate / each[other].rate for each in rounds)


if __name__ == "__main__":
    main()
