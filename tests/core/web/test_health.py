"""/healthz and /readyz, the endpoints for load balancers."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.models.secrets import Secret
from petstore.quotas.database import Counter
from petstore.storage import Busy, db
from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.clocks import Clock
from tests.harness.clusters import Server
from tests.harness.databases import of_both_engines

AWAY = {
    "sqlite": "sqlite:///{directory}/missing/petstore.db",
    "postgresql": "postgresql://nobody:secret@127.0.0.1:{port}/petstore",
}


@of_both_engines
def test_healthz_and_readyz_are_ok(stranger: FlaskClient, capfd: pytest.CaptureFixture):
    checks = {"/healthz": {}, "/readyz": {"counters": "ok"}}
    for path, more in checks.items():
        answer = stranger.get(path)
        assert (answer.status_code, answer.json) == (200, {"status": "ok"} | more)
        assert "X-RateLimit-Limit" not in answer.headers
    assert not Counter.select().exists()
    db.execute_sql("ALTER TABLE secret RENAME TO moved")
    try:
        assert stranger.get("/readyz").status_code == 503
    finally:
        db.execute_sql("ALTER TABLE moved RENAME TO secret")
    # A fault is logged, an outage is not.
    assert "internal_error" in capfd.readouterr().out


def test_readyz_tries_to_write_once_in_ten_seconds(
    stranger: FlaskClient, monkeypatch: pytest.MonkeyPatch, set_limits: Callable
):
    set_limits(written_seconds=Limits().written_seconds)
    now, tries = time.monotonic(), []
    outcomes = [Busy("the disk is full"), None, None]

    def write() -> None:
        tries.append(outcomes[len(tries)])
        if tries[-1]:
            raise tries[-1]

    monkeypatch.setattr(Secret, "try_database", write)
    for seconds, status in ((0, 503), (9.9, 503), (10, 200), (19.9, 200), (20, 200)):
        monkeypatch.setattr("petstore.clock.monotonic", lambda at=now + seconds: at)
        assert stranger.get("/readyz").status_code == status
    assert tries == outcomes


@of_both_engines
class TestWithoutTheDatabase:
    @pytest.fixture
    def database_url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return AWAY[request.param].format(directory=tmp_path, port=servers.free_port())

    @pytest.fixture
    def clock(self) -> Clock:
        """A clock that does not connect to the missing database."""
        return Clock()

    def test_healthz_is_ok_and_readyz_unavailable(self, stranger: FlaskClient):
        assert stranger.get("/healthz").status_code == 200
        answer = stranger.get("/readyz")
        assert answer.status_code == 503
        counters = "degraded" if db.file else "unknown"  # in a file that is gone, too
        assert answer.json == {"status": "unavailable", "counters": counters}
        assert answer.headers["Retry-After"] == "1"
        assert "secret" not in answer.text


def test_lost_counter_store_degrades_the_service(redis: Server, stranger: FlaskClient):
    assert stranger.get("/readyz").json["counters"] == "ok"
    redis.kill()
    answer = stranger.get("/readyz")
    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "counters": "degraded"}
