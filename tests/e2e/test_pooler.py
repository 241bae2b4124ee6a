"""Quotas are exact, and writes are cancelled, behind PgBouncer in transaction mode."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.e2e.pooler import pgbouncer
from tests.harness import servers
from tests.harness.bursts import burst
from tests.harness.services import serving
from tests.harness.waiting import wait_until

TRIALS = 3
REX = {"name": "Rex", "categoryId": 7}
LOCK_WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def environ(postgresql_server: str) -> Iterator[dict[str, str]]:
    """Settings for a new database that is reached through PgBouncer."""
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE pooled")
    with pgbouncer(postgresql_server) as pooler:
        environ = {
            "DATABASE_URL": pooler.url,
            "PETSTORE_PREPARED_STATEMENTS": "0",
            "WEB_CONCURRENCY": "2",
        }
        servers.flask(environ, "migrate").check_returncode()
        yield environ


@pytest.fixture(scope="module")
def instances(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[servers.Gunicorn]]:
    """Two services with two workers each."""
    logs = tmp_path_factory.mktemp("pooled")
    with (
        servers.gunicorn(logs, environ) as first,
        servers.gunicorn(logs, environ) as second,
    ):
        yield [first, second]
        for instance in (first, second):
            assert "database_error" not in instance.log.read_text()
            assert "internal_error" not in instance.log.read_text()


def test_exactly_the_limit_is_served(
    environ: dict[str, str], instances: list[servers.Gunicorn]
):
    urls = [instance.url for instance in instances]
    for trial in range(TRIALS):
        assert burst(random.Random(trial), environ, urls) == []


def test_nothing_is_written_when_the_pooler_is_killed_before_the_response(
    environ: dict[str, str],
    set_limits: Callable[..., None],
    postgresql_server: str,
    tmp_path: Path,
):
    with pgbouncer(postgresql_server) as pooler, ThreadPoolExecutor(1) as pool:
        environ = environ | {"DATABASE_URL": pooler.url}
        server = make_conninfo(postgresql_server, dbname="pooled")
        set_limits(lock_seconds=8.0, server_statement_seconds=8.0)
        with (
            serving(tmp_path, environ) as service,
            psycopg.connect(server) as other,
            # A transaction goes on seeing the sessions that it has seen first.
            psycopg.connect(server, autocommit=True) as watcher,
        ):

            def waits() -> int:
                return watcher.execute(LOCK_WAITS).fetchone()[0]

            before = service.send(body=REX).json["id"]
            other.execute("SELECT * FROM project FOR UPDATE")
            pending = pool.submit(service.send, body=REX)
            wait_until(lambda: waits() == 1, "no wait")
            pooler.process.kill()
            assert pending.result().status == 503
            wait_until(lambda: waits() == 0, "a wait")
            other.rollback()
            last = other.execute("SELECT max(id) FROM pet").fetchone()
    assert last == (before,)
