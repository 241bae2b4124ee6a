"""Host routing takes at most one query, which uses an index."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.database import data, is_sqlite
from petstore.domains.inspection import Inspection
from petstore.models.hosts import _select_by_name, _select_by_slug
from petstore.models.projects import Project
from tests.domains.test_hosts import Own
from tests.hosts.fixtures import BASE

Statements = Callable[..., list[str]]


@pytest.fixture
def statements(
    stranger: FlaskClient,
    project: Project,
    own: Own,
    inspection: Inspection,
    monkeypatch: pytest.MonkeyPatch,
) -> Statements:
    """Return a function that requests a host and returns the SQL statements run."""
    own(project, "shop.example.org")
    stranger.get("/v1/pets", headers={"Host": BASE})  # opens connections for later use
    inspection.wait()  # for the check of domains that the request has begun
    seen: list[str] = []
    execute = type(data.obj).execute_sql

    def spy(self: object, sql: str, *rest: object) -> object:
        seen.append(sql)
        return execute(self, sql, *rest)

    monkeypatch.setattr(type(data.obj), "execute_sql", spy)

    def statements(host: str, path: str = "/v1/pets") -> list[str]:
        stranger.get(path, headers={"Host": host}).close()
        # Quota counters may live in the same database.
        return [sql for sql in seen if "usage" not in sql]

    return statements


@pytest.mark.parametrize(
    "host", [f"shelter.{BASE}", f"nobody.{BASE}", "shop.example.org", "example.org"]
)
def test_host_takes_one_query(statements: Statements, host: str):
    assert len(statements(host)) == 1


@pytest.mark.parametrize("host", [BASE, f"a.b.{BASE}", "[::1]", "x" * 300])
def test_base_domain_and_invalid_hosts_take_no_query(statements: Statements, host: str):
    assert statements(host) == []


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/openapi.json", "/healthz", "/dashboard/static/page.css"]
)
def test_paths_without_a_project_do_not_look_up_the_host(
    statements: Statements, path: str
):
    assert not [sql for sql in statements("shop.example.org", path) if "domain" in sql]


@pytest.mark.parametrize("look_up", [_select_by_name, _select_by_slug])
def test_host_query_uses_an_index(project: Project, look_up: object):
    sql, parameters = look_up._build().sql()
    if is_sqlite(data.obj):
        plan = data.execute_sql(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()
        assert "SCAN" not in str(plan)
        return
    with data.atomic():
        data.execute_sql("SET LOCAL enable_seqscan = off")
        plan = data.execute_sql(f"EXPLAIN {sql}", parameters).fetchall()
    assert "Seq Scan" not in str(plan)
