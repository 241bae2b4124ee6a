"""Requests per second with large tables over small ones, interleaved in one run.

    python -m benchmarks.growth --store sqlite

It needs wrk, and aims at services that it starts on loopback. A ratio of 1 says that
a request does not feel how much there is; it is the median of the ratios of all rounds.
"""

import argparse
import contextlib
from statistics import median
from typing import NamedTuple

from benchmarks.stage import STORES, Server, Stage, stage
from benchmarks.wrk import Case, run

FEW, MANY = 1_000, 1_000_000
PROJECTS, KEYS = 10_000, 100_000
PAGE = 20
CASES = {
    "first page": Case(),
    "last page": Case("/v1/pets?after={last}"),
    "by status": Case("/v1/pets?status=pending"),
    "get": Case("/v1/pets/77"),
    "create": Case(posts=True),
}
# Both engines read these.
NUMBERS = (
    "WITH RECURSIVE numbers (n) AS"
    " (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"
)
ADD_ANIMALS = (
    "INSERT INTO pet (project_id, name, category_id, status)"
    f" {NUMBERS} SELECT 1, 'Rex', 7, CASE n % 3 WHEN 0 THEN 'available'"
    " WHEN 1 THEN 'pending' ELSE 'sold' END FROM numbers"
)
ADD_PROJECTS = (
    "INSERT INTO project (slug, name, plan, created_ms)"
    f" {NUMBERS} SELECT 'project-' || n, 'Shelter', 'free', 0 FROM numbers"
)
ADD_KEYS = (
    "INSERT INTO api_key (project_id, prefix, digest, created_ms)"
    f" {NUMBERS} SELECT 1 + n % {PROJECTS}, 'pet_' || (100000000000 + n),"
    " (SELECT digest FROM api_key LIMIT 1), 0 FROM numbers"
)


class Shop(NamedTuple):
    """A service, how many animals its project has, and a key of it."""

    server: Server
    animals: int
    key: str

    def rate(self, case: Case, seconds: int) -> float:
        """Requests per second."""
        path = case.path.format(last=self.animals - PAGE)
        figures = run(self.server, case._replace(path=path), self.key, seconds)
        assert not figures.refused, figures
        return figures.rate


def main() -> None:
    """Measure on one store or on both, and print a line a case."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=1)
    arguments.add_argument("--store", choices=STORES)
    chosen = arguments.parse_args()
    for store in [chosen.store] if chosen.store else STORES:
        with contextlib.ExitStack() as stack:
            places = [stack.enter_context(stage(store)) for _ in range(3)]
            _measure(store, places, chosen)


def _measure(store: str, places: list[Stage], chosen: argparse.Namespace) -> None:
    small, many_animals, many_keys = (
        _shop(place, count)
        for place, count in zip(places, (FEW, MANY, FEW), strict=True)
    )
    places[2].sql(ADD_PROJECTS.format(count=PROJECTS))
    places[2].sql(ADD_KEYS.format(count=KEYS))
    print(f"{store:10}  {MANY:,} animals  {KEYS:,} keys, over few")
    for name, case in CASES.items():
        rounds = [
            [
                shop.rate(case, chosen.seconds)
                for shop in (small, many_animals, many_keys)
            ]
            for _ in range(chosen.rounds)
        ]
        ratios = [median(r[place] / r[0] for r in rounds) for place in (1, 2)]
        print(f"{name:10}  {ratios[0]:17.2f}  {ratios[1]:12.2f}", flush=True)


def _shop(place: Stage, animals: int) -> Shop:
    key = place.key("bench")
    place.sql(ADD_ANIMALS.format(count=animals))
    return Shop(place.service(), animals, key)


if __name__ == "__main__":
    main()
