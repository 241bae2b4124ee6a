"""What host routing costs: one indexed look-up at most, and none where none is due."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.database import data, is_sqlite
from petstore.models.hosts import _select_by_name, _select_by_slug
from petstore.models.projects import Project
from tests.domains.test_hosts import Own
from tests.hosts.fixtures import BASE

Statements = Callable[[str], list[str]]


@pytest.fixture
def statements(
    stranger: FlaskClient, project: Project, own: Own, monkeypatch: pytest.MonkeyPatch
) -> Statements:
    """Runs a request without a key; what it asked the data."""
    own(project, "shop.example.org")
    stranger.get("/v1/pets", headers={"Host": BASE})  # opens what is open from then on
    seen: list[str] = []
    execute = type(data.obj).execute_sql

    def spy(self: object, sql: str, *rest: object) -> object:
        seen.append(sql)
        return execute(self, sql, *rest)

    monkeypatch.setattr(type(data.obj), "execute_sql", spy)

    def statements(host: str) -> list[str]:
        stranger.get("/v1/pets", headers={"Host": host})
        # Quota counters may live in the same database.
        return [sql for sql in seen if "usage" not in sql]

    return statements


@pytest.mark.parametrize(
    "host", [f"shelter.{BASE}", f"nobody.{BASE}", "shop.example.org", "example.org"]
)
def test_a_host_costs_one_look_up(statements: Statements, host: str):
    assert len(statements(host)) == 1


@pytest.mark.parametrize("host", [BASE, f"a.b.{BASE}", "[::1]", "x" * 300])
def test_the_base_domain_and_what_cannot_be_a_host_cost_none(
    statements: Statements, host: str
):
    assert statements(host) == []


@pytest.mark.parametrize("look_up", [_select_by_name, _select_by_slug])
def test_the_look_up_reads_an_index(project: Project, look_up: object):
    sql, parameters = look_up._build().sql()
    if is_sqlite(data.obj):
        plan = data.execute_sql(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()
        assert "SCAN" not in str(plan)
        return
    with data.atomic():
        data.execute_sql("SET LOCAL enable_seqscan = off")
        plan = data.execute_sql(f"EXPLAIN {sql}", parameters).fetchall()
    assert "Seq Scan" not in str(plan)
