"""The projects that send requests, with keys, categories and animals.

Their animals alternate, as if the projects grew at the same time: a page of one project
is scattered over the table.
"""

from pathlib import Path
from typing import NamedTuple

from benchmarks.stage import Stage
from petstore import create_app
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases
from tests.harness.browser import COOKIE, Browser

PROJECTS = 50
ANIMALS = 200  # per project
CATEGORIES = 20  # per project
AMPLE = 10**9
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


class Tenant(NamedTuple):
    """A key, and the range of animal ids that is requested with it."""

    key: str
    first: int = 1
    last: int = ANIMALS * PROJECTS
    step: int = PROJECTS


def settle(place: Stage, animals: int = ANIMALS) -> list[Tenant]:
    """Fill the database and write a file for each group of tenants."""
    keys = issue_keys(place, "tenant", AMPLE)
    place.sql(ADD_CATEGORIES.format(count=CATEGORIES))
    place.sql(ADD_ANIMALS.format(count=animals))
    if place.store != "sqlite":
        place.sql("ANALYZE")  # PostgreSQL does this by itself, but not at once
    ranges = place.sql(RANGES)
    tenants = [Tenant(key, *ids) for key, ids in zip(keys, ranges, strict=True)]
    write(place.directory / "tenants", tenants)
    write(place.directory / "one tenant", tenants[:1])
    return tenants


def issue_keys(place: Stage, name: str, per_day: int) -> list[str]:
    """Create projects with one key each and return the keys."""
    plan = Plan("enterprise", AMPLE, per_day)
    open_databases(read_settings(place.environ))
    try:
        projects = [Project.add(name, f"{name}-{n}", plan) for n in range(PROJECTS)]
        return [Key.issue(project) for project in projects]
    finally:
        databases.close()


def sign_in(place: Stage, tenants: list[Tenant]) -> dict[Tenant, str]:
    """Sign in to the projects, and return the cookie of each."""
    app = create_app(read_settings(place.environ))
    try:
        return {each: f"{COOKIE}={Browser(app, each.key).cookie}" for each in tenants}
    finally:
        databases.close()


def write(file: Path, tenants: list[Tenant]) -> None:
    """Write the file of tenants that requests.lua reads."""
    file.write_text("".join(f"{' '.join(map(str, each))}\n" for each in tenants))
