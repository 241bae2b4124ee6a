"""Quotas are exact behind PgBouncer in transaction mode."""

import random
from collections.abc import Iterator

import psycopg
import pytest

from tests.e2e.pooler import pgbouncer
from tests.harness import servers
from tests.harness.bursts import burst

TRIALS = 3


@pytest.fixture(scope="module")
def environ(postgresql_server: str) -> Iterator[dict[str, str]]:
    """Settings for a new database that is reached through PgBouncer."""
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE pooled")
    with pgbouncer(postgresql_server) as url:
        environ = {
            "DATABASE_URL": url,
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
