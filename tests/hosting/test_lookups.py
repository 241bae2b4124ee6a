"""Host routing takes at most one query, which uses an index."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.projects import Project
from petstore.storage import db
from tests.harness.host_fixtures import BASE, Own
from tests.harness.statements import Statement, recorded

Queries = Callable[..., list[Statement]]


@pytest.fixture
def queries(stranger: FlaskClient, project: Project, own: Own) -> Queries:
    """Return a function that requests a host and returns the statements run."""
    own(project, "shop.example.org")
    stranger.get("/v1/pets", headers={"Host": BASE})  # opens connections for later use

    def queries(host: str, path: str = "/v1/pets") -> list[Statement]:
        with recorded() as seen:
            stranger.get(path, headers={"Host": host}).close()
        # Quota counters may live in the same database.
        return [each for each in seen if "counter" not in each.sql]

    return queries


def test_host_takes_one_query(queries: Queries):
    for slug in ("shelter", "nobody"):
        assert len(queries(f"{slug}.{BASE}")) == 1
    for host in ("shop.example.org", "example.org"):
        assert len(queries(host)) == 1


def test_base_domain_and_invalid_hosts_take_no_query(queries: Queries):
    for host in (BASE, f"a.b.{BASE}", "[::1]", "x" * 300):
        assert queries(host) == []


def test_paths_without_a_project_do_not_look_up_the_host(queries: Queries):
    for path in ("/", "/docs", "/openapi.json", "/dashboard/static/page.css"):
        assert queries("shop.example.org", path) == []


@pytest.mark.parametrize("host", [f"shelter.{BASE}", "shop.example.org"])
def test_host_query_uses_an_index(queries: Queries, host: str):
    [query] = queries(host)
    with db.atomic():
        if not db.file:
            db.execute_sql("SET LOCAL enable_seqscan = off")
        plan = query.plan()
    assert "SCAN" not in plan
    assert "Seq Scan" not in plan
