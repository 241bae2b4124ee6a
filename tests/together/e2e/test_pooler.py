"""Quotas are exact behind PgBouncer in transaction mode."""

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.harness import servers
from tests.harness.bursts import burst
from tests.harness.servers import free_port, running
from tests.harness.stage import new_database

TRIALS = 3
CONFIG = Path(__file__).with_name("pgbouncer.ini").read_text()
# Fewer than there are concurrent requests, so that connections are shared.
CONNECTIONS = 4


@contextmanager
def pgbouncer(server: str) -> Iterator[str]:
    """Run PgBouncer in front of this server for the block, and yield its URL."""
    # Not in pytest's temporary directory, which PgBouncer's user may not enter.
    with tempfile.TemporaryDirectory(prefix="petstore-pgbouncer-") as directory:
        config, port = Path(directory, "pgbouncer.ini"), free_port()
        [socket] = parse_qs(urlsplit(server).query)["host"]
        text = CONFIG.format(socket=socket, port=port, connections=CONNECTIONS)
        config.write_text(text)
        Path(directory).chmod(0o755)
        # PgBouncer refuses to run as root; PostgreSQL's user runs it then.
        user = [f"--user={Path(socket).owner()}"] if os.geteuid() == 0 else []
        command = ["pgbouncer", *user, str(config)]
        with running(command, port, config.with_suffix(".log")):
            yield f"postgresql://petstore@127.0.0.1:{port}/petstore"


@pytest.fixture(scope="module")
def environ(postgresql_server: str) -> Iterator[dict[str, str]]:
    """Settings for a new database that is reached through PgBouncer."""
    with new_database(postgresql_server, "pooled"), pgbouncer(postgresql_server) as url:
        environ = {"DATABASE_URL": url}
        servers.flask(environ, "migrate").check_returncode()
        yield environ | {"WEB_CONCURRENCY": "2"}


def test_limit_is_exact(environ: dict[str, str], tmp_path: Path):
    """Two services with two workers each count together."""
    services = [servers.gunicorn(tmp_path, environ) for _ in range(2)]
    with services[0] as one, services[1] as other:
        for trial in range(TRIALS):
            urls = [one.url, other.url]
            assert burst(random.Random(trial), environ, urls) == []
        logs = one.log.read_text() + other.log.read_text()
    assert "database_error" not in logs
    assert "internal_error" not in logs
