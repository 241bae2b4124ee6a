"""/healthz and /readyz: what a load balancer asks."""

from pathlib import Path
from subprocess import Popen

import pytest
from flask.testing import FlaskClient

from petstore.quotas.stores.database import Usage
from tests import servers
from tests.clocks import Clock

AWAY = {
    "sqlite": "sqlite:///{directory}/missing/petstore.db",
    "postgresql": "postgresql://nobody:secret@127.0.0.1:{port}/petstore",
}


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
class TestWhereAllIsWell:
    @pytest.fixture
    def database_url(self, request: pytest.FixtureRequest) -> str:
        return request.getfixturevalue(f"{request.param}_url")

    def test_the_process_is_up(self, stranger: FlaskClient):
        answer = stranger.get("/healthz")
        assert (answer.status_code, answer.json) == (200, {"status": "ok"})

    def test_it_is_ready(self, stranger: FlaskClient):
        answer = stranger.get("/readyz")
        assert answer.status_code == 200
        assert answer.json == {"status": "ok", "counters": "ok"}

    def test_asking_needs_no_key_and_costs_nothing(self, stranger: FlaskClient):
        for path in ("/healthz", "/readyz"):
            headers = stranger.get(path).headers
            assert "X-RateLimit-Limit" not in headers
            assert "X-Request-ID" in headers
        assert not Usage.select().exists()


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
class TestWithoutTheDatabase:
    @pytest.fixture
    def database_url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return AWAY[request.param].format(directory=tmp_path, port=servers.free_port())

    @pytest.fixture
    def clock(self) -> Clock:
        """Nobody to tell the time."""
        return Clock()

    def test_the_process_is_up(self, stranger: FlaskClient):
        assert stranger.get("/healthz").status_code == 200

    def test_it_is_not_ready(self, stranger: FlaskClient):
        answer = stranger.get("/readyz")
        assert answer.status_code == 503
        assert answer.json == {"status": "unavailable", "counters": "degraded"}
        assert "secret" not in answer.text


class TestWithCountersInRedis:
    def test_it_is_ready_and_degraded_while_only_they_are_away(
        self, redis: Popen, stranger: FlaskClient
    ):
        assert stranger.get("/readyz").json["counters"] == "ok"
        servers.stop(redis)
        answer = stranger.get("/readyz")
        assert answer.status_code == 200
        assert answer.json == {"status": "ok", "counters": "degraded"}
