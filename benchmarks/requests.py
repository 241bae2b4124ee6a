"""The requests that are counted and timed, and the projects that send them.

The animals of the projects alternate, as if all grew at the same time: a page of one
project is scattered over the table.
"""

import json
import random
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from benchmarks.stage import Stage
from petstore import create_app
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests.harness import databases
from tests.harness.browser import COOKIE, Browser
from tests.harness.stage import opened

# Each kind of request, and the status of its response.
CASES = {"list": 200, "get": 200, "create": 201}
# The dearest of what plans allow: a hundred animals, over the API and as a page of the
# dashboard, and a create with an Idempotency-Key.
DEAREST = {"hundred": 200, "page": 200, "once": 201}
PAGE = "/dashboard/animals?limit=100"
PROJECTS = 50
ANIMALS = 200  # per project
CATEGORIES = 20  # per project
AMPLE = 10**9
# Nothing is written about keys that are said to be used later than now.
LONG_FROM_NOW_MS = 1 << 42
# SQL for both engines.
NUMBERS = (
    "WITH RECURSIVE numbers (n) AS"
    " (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"
)
ADD_CATEGORIES = (
    "INSERT INTO category (project_id, id)"
    f" {NUMBERS} SELECT project.id, n - 1 FROM numbers CROSS JOIN project"
)
ADD_ANIMALS = (
    "INSERT INTO pet (project_id, name, category_id, status)"
    f" {NUMBERS} SELECT project.id, 'Rex ' || n, n % {CATEGORIES}, CASE n % 3"
    " WHEN 1 THEN 'available' WHEN 2 THEN 'pending' ELSE 'sold' END"
    " FROM numbers CROSS JOIN project ORDER BY n, project.id"
)
RANGES = "SELECT min(id), max(id) FROM pet GROUP BY project_id ORDER BY project_id"


class Request(NamedTuple):
    """A request, and the status of its response."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    expected: int


class Tenant(NamedTuple):
    """A project: its key, and the range of its animals' ids."""

    key: str
    first: int
    last: int


class Crowd:
    """Those who send requests, of which no two are alike."""

    def __init__(self, place: Stage) -> None:
        self._place = place
        plan = Plan("enterprise", AMPLE, AMPLE)
        names = [f"tenant-{number}" for number in range(PROJECTS)]
        with opened(place.environ):
            keys = [Key.issue(Project.add(name, name, plan)) for name in names]
        place.sql(ADD_CATEGORIES.format(count=CATEGORIES))
        place.sql(ADD_ANIMALS.format(count=ANIMALS))
        place.sql(f"UPDATE api_key SET last_used_ms = {LONG_FROM_NOW_MS}")
        if place.store != "sqlite":
            place.sql("ANALYZE")  # PostgreSQL does this by itself, but not at once
        ranges = place.sql(RANGES)
        self._tenants = [
            Tenant(key, *ids) for key, ids in zip(keys, ranges, strict=True)
        ]
        self.key = keys[0]  # of any project
        self._any = random.Random(0)  # the same in each run

    def requests(self, case: str, count: int) -> list[Request]:
        """Return that many requests of one kind."""
        return [self._request(case) for _ in range(count)]

    def write(self, case: str, count: int = 20_000) -> Path:
        """Write requests into the file that requests.lua reads."""
        file = self._place.directory / f"{case}.requests"
        with file.open("w") as lines:
            for each in self.requests(case, count):
                key = each.headers["Authorization"]
                print(each.method, each.path, key, each.body, sep="\t", file=lines)
        return file

    @cached_property
    def _cookies(self) -> dict[Tenant, str]:
        """The session of each project."""
        with databases.set_aside():
            app = create_app(read_settings(self._place.environ))
            return {
                each: f"{COOKIE}={Browser(app, each.key).cookie}"
                for each in self._tenants
            }

    def _request(self, case: str) -> Request:
        tenant, number = self._any.choice(self._tenants), self._any.randrange
        headers, expected = {"Authorization": f"Bearer {tenant.key}"}, CASES | DEAREST
        if case in ("create", "once"):
            body = {"name": f"Rex {number(10**6)}", "categoryId": number(CATEGORIES)}
            headers["Content-Type"] = "application/json"
            if case == "once":
                headers["Idempotency-Key"] = f"{number(10**18)}"
            sent = ("POST", "/v1/pets", headers, json.dumps(body))
        elif case == "page":
            sent = ("GET", PAGE, {"Cookie": self._cookies[tenant]}, "")
        elif case == "get":
            pet_id = number(tenant.first, tenant.last + 1, PROJECTS)
            sent = ("GET", f"/v1/pets/{pet_id}", headers, "")
        else:
            limit = 100 if case == "hundred" else 20
            after = number(tenant.first - 1, tenant.last - limit * PROJECTS)
            path = f"/v1/pets?limit={limit}&after={after}"
            sent = ("GET", path, headers, "")
        return Request(*sent, expected[case])
