"""Compare requests per second with large tables to those with small ones.

    python -m benchmarks.growth --store sqlite

Needs wrk. The services are started on loopback and measured in turns. A ratio of 1
means that the size of the tables does not matter. The output is the median, the lowest
and the highest ratio of all rounds.
"""

import contextlib

from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, Stage, ask, stage
from benchmarks.tenants import ANIMALS as FEW
from benchmarks.tenants import NUMBERS, PROJECTS, settle
from benchmarks.wrk import Case, run

ANIMALS = 1_000_000
OTHER_PROJECTS, OTHER_KEYS = 10_000, 100_000
CASES = {
    "first page": Case(who="at the first page"),
    "any page": Case(),
    "last page": Case(who="at the last page"),
    "list by status": Case("list by status"),
    "get": Case("get"),
    "create": Case("create"),
}
ADD_PROJECTS = (
    "INSERT INTO project (slug, name, plan, created_ms)"
    f" {NUMBERS.format(count=OTHER_PROJECTS)}"
    " SELECT 'other-' || n, 'Shelter', 'free', 0 FROM numbers"
)
ADD_KEYS = (
    "INSERT INTO api_key (project_id, prefix, digest, created_ms)"
    f" {NUMBERS.format(count=OTHER_KEYS)}"
    f" SELECT {PROJECTS + 1} + n % {OTHER_PROJECTS}, 'pet_' || (100000000000 + n),"
    " (SELECT digest FROM api_key LIMIT 1), 0 FROM numbers"
)
ADD_OTHERS = (ADD_PROJECTS, ADD_KEYS)


def main() -> None:
    """Print a table for each store."""
    chosen = options(__doc__, CASES, rounds=5)
    for store in chosen.stores:
        with contextlib.ExitStack() as stack:
            few, many_animals, many_keys = (
                stack.enter_context(stage(store)) for _ in range(3)
            )
            servers = {
                "few": _service(few),
                f"{ANIMALS:,} animals": _service(many_animals, ANIMALS // PROJECTS),
                f"{OTHER_KEYS:,} keys": _service(many_keys, statements=ADD_OTHERS),
            }
            _, *large = servers
            print_heads(f"Case ({store})", *large)
            for name in chosen.cases:
                runs = {
                    each: lambda s=server, c=CASES[name]: run(s, c, chosen.seconds)
                    for each, server in servers.items()
                }
                rounds = interleave(runs, chosen.rounds)
                print_row(
                    name,
                    *(
                        spread(each[size].rate / each["few"].rate for each in rounds)
                        for size in large
                    ),
                )


def _service(
    place: Stage, animals: int = FEW, statements: tuple[str, ...] = ()
) -> Server:
    tenants = settle(place, animals)
    for statement in statements:
        place.sql(statement)
    server = place.service()
    assert len(ask(server, tenants[0].key)[2]) == 20
    return server


if __name__ == "__main__":
    main()
