"""One project sends what it can, or what it needs stands still: others are served."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import psycopg
import pytest

from petstore.storage import db
from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.clusters import Server
from tests.harness.load import load
from tests.harness.postgres import Postgres, postgres
from tests.harness.services import Service, issue_key, serving
from tests.harness.stage import opened
from tests.harness.visitors import Visitor
from tests.harness.wire import get, post
from tests.torture.conftest import TIMES

# Limits of time are longer in the short form, which runs on machines that are busy.
SLOWER = 20 if TIMES == 1 else 1
HEALTHY_SECONDS = 0.25 * SLOWER  # /healthz, p99
SERVED_SECONDS = 0.5 * SLOWER  # another project
UNAVAILABLE_SECONDS = 2.5 * SLOWER  # another project, while its store does not answer
MOST_REFUSED = 0.25 if TIMES == 1 else 0.0  # share of the other project's requests
PROBE_SECONDS, OTHER_SECONDS = 0.01, 0.5  # between two requests
DISTURBED_SECONDS, BACK_SECONDS = 3.0, 1.0
ANIMALS = 10_000
LINES = 15_300  # as many as a file of 60 KiB can have
MOST_GROWTH_BYTES = 150 * 1024 * 1024
PET = b'{"name": "Rex", "categoryId": 1}'
STATUSES = {"200", "201", "303", "429", "503"}  # of the crowd
ROOM = "--worker-connections 2100"  # for the largest crowd, and others


class Stage(NamedTuple):
    """The service in one worker, its stores, and the key of another project."""

    service: Service
    other_key: str
    database: Postgres | None
    redis: Server | None

    @contextmanager
    def crowd(self, *requests: bytes, size: int, **options: float) -> Iterator[None]:
        """Let a crowd begin, and wait for its end at the end of the block."""
        asked = {"port": self.service.gunicorn.port, "size": size} | options
        asked["requests"] = [request.decode("latin-1") for request in requests]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.torture.crowd", json.dumps(asked)],
            cwd=servers.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as crowd:
            assert crowd.stdout.readline(), "the crowd could not connect"
            crowd.stdin.write("\n")
            crowd.stdin.flush()
            yield
            received = json.loads(crowd.communicate()[0])
        assert received.keys() <= STATUSES

    def read(self) -> bytes:
        return get(self.service.key, path="/v1/pets?limit=10")

    def add(self) -> bytes:
        return post(self.service.key, f"Content-Length: {len(PET)}") + PET


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with ExitStack() as stack:
        database = redis = None
        if request.param == "sqlite":
            environ = {"DATABASE_URL": request.getfixturevalue("sqlite_url")}
        else:
            database = stack.enter_context(postgres())
            server = Server(servers.free_port(), tmp_path / "redis")
            redis = stack.enter_context(server)
            environ = {"DATABASE_URL": database.url, "REDIS_URL": redis.url}
        environ["WEB_CONCURRENCY"] = "1"
        key, other_key = issue_key(environ), issue_key(environ)
        fill(environ["DATABASE_URL"])
        options = (tmp_path, environ, *ROOM.split())
        service = stack.enter_context(serving(*options, key=key, limits=Limits()))
        yield Stage(service, other_key, database, redis)


def fill(url: str) -> None:
    """Give each project animals."""
    with opened(url):
        db.execute_sql(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL"
            f" SELECT n + 1 FROM n WHERE n < {ANIMALS}) INSERT INTO pet"
            " (project_id, name, category_id, status, folded)"
            " SELECT id, 'Rex ' || n, 1, 'available', 'rex ' || n FROM n, project"
        )


def many(stage: Stage) -> None:
    with stage.crowd(stage.read(), size=2_000):
        pass


def exports(stage: Stage) -> None:
    cookie = Visitor(stage.service.url, stage.service.key).cookie
    requests = [
        f"GET /dashboard/{path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n"
        for path in ("animals.csv", "animals?whole=1", "animals?name=9+rex")
    ]
    with stage.crowd(*map(str.encode, requests), size=60):
        pass


def imports(stage: Stage) -> None:
    visitor = Visitor(stage.service.url, stage.service.key)
    path = visitor.upload("name,categoryId\n" + "a,1\n" * LINES)
    head = (
        f"{path} HTTP/1.1\r\nHost: x\r\nCookie: {visitor.cookie}\r\n"
        "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n"
    )
    with stage.crowd(f"GET {head}".encode(), f"POST {head}".encode(), size=5):
        pass


@contextmanager
def busy(stage: Stage) -> Iterator[None]:
    """Let many clients of a project read and write for the duration of the block."""
    asked = stage.read(), stage.add()
    with stage.crowd(*asked, size=50, seconds=DISTURBED_SECONDS):
        yield


def hung(stage: Stage, store: str) -> None:
    with busy(stage):
        getattr(stage, store).hang()
        time.sleep(DISTURBED_SECONDS)
        getattr(stage, store).go_on()


def locked_rows(stage: Stage) -> None:
    with psycopg.connect(stage.database.url) as other:
        other.execute("SELECT FROM project WHERE id = 1 FOR UPDATE")
        other.execute("SELECT FROM pet WHERE project_id = 1 FOR UPDATE")
        with busy(stage):
            pass
        other.rollback()


DISTURBANCES = {
    "2,000 requests": (many, ("sqlite", "postgresql")),
    "PostgreSQL hung": (partial(hung, store="database"), ("postgresql",)),
    "Redis hung": (partial(hung, store="redis"), ("postgresql",)),
    "rows locked": (locked_rows, ("postgresql",)),
    "60 exports, printed lists and searches": (exports, ("sqlite", "postgresql")),
    "5 imports": (imports, ("sqlite",)),
}


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        (name, engine)
        for name, (_, engines) in DISTURBANCES.items()
        for engine in engines
    ],
    indirect=["stage"],
)
def test_one_project_stops_nobody_else(name: str, stage: Stage):
    disturb, _ = DISTURBANCES[name]
    [worker] = stage.service.workers
    memory = worker.memory_info().rss
    for _ in range(min(TIMES, 3)):
        require_others_are_served(stage, disturb, is_away=name == "PostgreSQL hung")
    assert stage.service.workers == [worker]
    assert peak_of(worker.pid) - memory < MOST_GROWTH_BYTES
    assert not stage.service.gunicorn.tracebacks()


def require_others_are_served(
    stage: Stage, disturb: Callable[[Stage], None], *, is_away: bool
) -> None:
    """Judge what others get during the disturbance, and what all get after it."""
    url = stage.service.url
    with (
        load(url, [""], path="/healthz", pause_seconds=PROBE_SECONDS) as probes,
        load(url, [stage.other_key], pause_seconds=OTHER_SECONDS, adds=True) as others,
    ):
        probes.run(OTHER_SECONDS)
        disturb(stage)
        others.run(BACK_SECONDS)
        assert stage.service.send().status == 200
    assert probes.statuses() == {200}
    health = quantiles([answer.seconds for answer in probes.answers], n=100)[98]
    assert health <= HEALTHY_SECONDS
    assert others.statuses() <= {200, 201, 503}
    refused = sum(not answer.is_served for answer in others.answers)
    assert is_away or refused <= MOST_REFUSED * len(others.answers)
    assert others.slowest() <= (UNAVAILABLE_SECONDS if is_away else SERVED_SECONDS)


def peak_of(pid: int) -> int:
    """Return the most memory that a process has ever used."""
    with open(f"/proc/{pid}/status") as status:
        [line] = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
