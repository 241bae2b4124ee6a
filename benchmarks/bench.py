"""Compare the service to the same job by hand, on its own server and on others.

    python -m benchmarks.bench --store sqlite list create

Needs wrk. The servers are started on loopback and measured in turns. The requests come
from 50 projects and vary all the time. The first ratio is that to the same job by hand
in Flask, on the same server; then come those to it on gunicorn's gevent worker, in
Falcon on that worker, and in Starlette, FastAPI, Litestar and BlackSheep on uvicorn.
Gunicorn's parser in C is installed for all. A ratio compares two servers at their least
disturbed, with the lowest and the highest of all rounds; above 1 the service is faster.
"""

import contextlib
from typing import Any

from benchmarks.load import Figures, options, print_heads, print_row, run, spread
from benchmarks.requests import Crowd
from benchmarks.stage import BY_HAND, GEVENT, GUNICORN, PYTHON, Server, stage
from tests.harness.clients import PETS, Client

SERVICE = "service"
PARSER = ("--http-parser", "fast")
SERVERS = {
    SERVICE: (*GUNICORN, "wsgi:app"),
    "by hand": (*GUNICORN, BY_HAND),
    "by hand, gevent": (*GUNICORN, *GEVENT, *PARSER, BY_HAND),
    "Falcon, gevent": (
        *GUNICORN,
        *GEVENT,
        *PARSER,
        "benchmarks.yardsticks.falcon_app:app",
    ),
    **{
        f"{name}, uvicorn": (
            *(*PYTHON, "uvicorn", "--port", "{port}", "--no-access-log"),
            *("--loop", "uvloop", f"benchmarks.yardsticks.{name.lower()}_app:app"),
        )
        for name in ("Starlette", "FastAPI", "Litestar", "BlackSheep")
    },
}
FEATURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
CONNECTIONS = 16


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, rounds=15)
    for store in chosen.stores:
        with stage(store, proxies=1) as place, contextlib.ExitStack() as stack:
            crowd = Crowd(place)
            servers = {
                name: stack.enter_context(place.running(command))
                for name, command in SERVERS.items()
            }
            for server in servers.values():
                _check(server, crowd.key)
            others = [f"to {name}" for name in SERVERS if name != SERVICE]
            cpu = ["CPU µs of each server", *(f"of {name}" for name in place.stores)]
            print_heads(f"Case ({store})", *others, "Requests/s", *cpu)
            for case in chosen.cases:
                sent = {"requests": crowd.write(case), "seconds": chosen.seconds}
                sent |= {"place": place, "connections": CONNECTIONS}
                numbers = range(chosen.rounds)
                rounds = [_round(number, servers, sent) for number in numbers]
                print_row(case, *_cells(rounds))


def _check(server: Server, key: str) -> None:
    """Check that the server does the work that is measured."""
    with Client(server.url, key) as client, Client(server.url, key[::-1]) as mistyped:
        before = client.get(f"{PETS}?limit=100")
        assert len(before.json) == 100, "a list of 100 holds 100 animals"
        assert all(name in before.headers for name in FEATURES), "the quota is shown"
        made = client.send("POST", PETS, {"name": "Rex", "categoryId": 7})
        left = [int(each.headers[FEATURES[1]]) for each in (before, made)]
        assert (made.status, left[0] - left[1]) == (201, 1), "the counter moves"
        found = client.get(f"{PETS}/{made.json['id']}")
        assert found.json == made.json, "what was created is there"
        assert mistyped.get(PETS).status == 401, "a mistyped key is refused"


def _round(
    number: int, servers: dict[str, Server], sent: dict[str, Any]
) -> dict[str, Figures]:
    """Measure all servers, in reverse order in every other round."""
    order = list(servers) if number % 2 == 0 else list(reversed(servers))
    return {name: run(server=servers[name], **sent) for name in order}


def _cells(rounds: list[dict[str, Figures]]) -> list[str]:
    cpu_us = [
        " / ".join(
            f"{min(each[server].cpu_us[name] for each in rounds):.0f}"
            for server in SERVERS
        )
        for name in rounds[0][SERVICE].cpu_us
    ]
    ratios = [_ratio(rounds, name) for name in SERVERS if name != SERVICE]
    return [*ratios, f"{max(each[SERVICE].rate for each in rounds):,.0f}", *cpu_us]


def _ratio(rounds: list[dict[str, Figures]], other: str) -> str:
    rates = [(each[SERVICE].rate, each[other].rate) for each in rounds]
    ours, others = zip(*rates, strict=True)
    return spread(max(ours) / max(others), (one / two for one, two in rates))


if __name__ == "__main__":
    main()
