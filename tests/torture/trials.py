"""The campaigns in which one project sends what it can: it stops nobody else."""

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import IO, NamedTuple

import psycopg

from petstore.storage import db
from tests.harness import servers
from tests.harness.campaign import Campaign, Run, p99
from tests.harness.clusters import Server
from tests.harness.load import load
from tests.harness.postgres import Postgres, postgres
from tests.harness.services import Service, issue_key
from tests.harness.stage import migrate, opened
from tests.harness.visitors import Visitor
from tests.harness.wire import get, post

HEALTHY_SECONDS = 0.25  # /healthz, p99
SERVED_SECONDS = 0.5  # another project
UNAVAILABLE_SECONDS = 2.5  # another project, while its own store does not answer
BACK_SECONDS = 1.0
PROBE_SECONDS, OTHER_SECONDS = 0.01, 0.5  # between two requests
BUSY = 50  # clients of one project that go on
ANIMALS = 10_000
LINES = 15_300  # as many as a file of 60 KiB can have
MOST_GROWTH_BYTES = 150 * 1024 * 1024
PIPE_BYTES = 4096  # which a few lines fill
PET = b'{"name": "Rex", "categoryId": 1}'
SERVED, UNAVAILABLE = {200, 201}, {200, 201, 503}


class PipedGunicorn(servers.Gunicorn):
    """gunicorn that writes its log to a pipe, whose reader can pause."""

    def open_output(self) -> IO[bytes]:
        """Open the pipe, which a thread reads."""
        self.reads = threading.Event()
        self.reads.set()
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        threading.Thread(target=self._read, args=(reader,), daemon=True).start()
        return open(writer, "wb")

    def _read(self, reader: int) -> None:
        with open(reader, "rb", 0) as lines, self.log.open("ab", 0) as log:
            while self.reads.wait() and (received := lines.read(PIPE_BYTES)):
                log.write(received)


class Stage(NamedTuple):
    """The service in one worker, its stores, and the keys of two projects."""

    run: Run
    service: Service
    gunicorn: PipedGunicorn
    other_key: str
    database: Postgres | None
    redis: Server | None

    @property
    def seconds(self) -> float:
        """How long what can last as long as one likes lasts."""
        return 3.0 if self.run.is_short else 10.0

    @contextmanager
    def crowd(self, *requests: bytes, size: int, **options: float) -> Iterator[None]:
        """Let a crowd begin, and wait for its end at the end of the block."""
        asked = {"port": self.gunicorn.port, "size": size} | options
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
        self.run.figures |= {f"status_{name}": received[name] for name in received}
        self.run.require(not received.keys() - STATUSES, f"the crowd got {received}")


STATUSES = {"200", "201", "303", "429", "503"}
Disturbance = Callable[[Stage], AbstractContextManager[None]]


class Trial(NamedTuple):
    """What one project does, or what it needs is away, and what others then get."""

    name: str
    disturb: Callable[[Stage], None]
    stores: tuple[str, ...] = ("sqlite", "postgresql")
    statuses: set[int] = SERVED
    seconds: float = SERVED_SECONDS


def _slow_heads(stage: Stage) -> None:
    with stage.crowd(_read(stage), size=200, seconds=stage.seconds, slow_from=0):
        pass


def _slow_bodies(stage: Stage) -> None:
    head = len(_add(stage)) - len(PET)
    with stage.crowd(_add(stage), size=200, seconds=stage.seconds, slow_from=head):
        pass


def _requests(stage: Stage, size: int) -> None:
    with stage.crowd(_read(stage), size=size):
        pass


def _pages(stage: Stage, paths: tuple[str, ...], size: int) -> None:
    # The pages of a project are counted, so this is a new one.
    environ = stage.gunicorn.environ
    cookie = Visitor(stage.service.url, issue_key(environ)).cookie
    _fill(environ["DATABASE_URL"])
    requests = [
        f"GET /dashboard/{path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n"
        for path in paths
    ]
    with stage.crowd(*map(str.encode, requests), size=size):
        pass


def _imports(stage: Stage) -> None:
    visitor = Visitor(stage.service.url, stage.service.key)
    path = visitor.upload("name,categoryId\n" + "a,1\n" * LINES)
    head = (
        f"{path} HTTP/1.1\r\nHost: x\r\nCookie: {visitor.cookie}\r\n"
        "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n"
    )
    with stage.crowd(f"GET {head}".encode(), f"POST {head}".encode(), size=5):
        pass


@contextmanager
def _busy(stage: Stage) -> Iterator[None]:
    """Let many clients of a project read and write for the duration of the block."""
    asked = _read(stage), _add(stage)
    with stage.crowd(*asked, size=BUSY, seconds=stage.seconds):
        yield


def _stopped_postgresql(stage: Stage) -> None:
    with _busy(stage):
        stage.database.hang()
        time.sleep(stage.seconds)
        stage.database.go_on()


def _stopped_redis(stage: Stage) -> None:
    with _busy(stage):
        stage.redis.hang()
        time.sleep(stage.seconds)
        stage.redis.go_on()


def _locked_rows(stage: Stage) -> None:
    with psycopg.connect(stage.database.url) as other:
        other.execute("SELECT FROM project WHERE id = 1 FOR UPDATE")
        other.execute("SELECT FROM pet WHERE project_id = 1 FOR UPDATE")
        with _busy(stage):
            pass
        other.rollback()


def _paused_log(stage: Stage) -> None:
    stage.gunicorn.reads.clear()
    with _busy(stage):
        pass
    stage.gunicorn.reads.set()


def _read(stage: Stage) -> bytes:
    return get(stage.service.key, path="/v1/pets?limit=10")


def _add(stage: Stage) -> bytes:
    return post(stage.service.key, f"Content-Length: {len(PET)}") + PET


EXPORTS = "animals.csv", "animals?whole=1"
SEARCHES = "animals?name=9+rex", "orders?name=nobody"
AWAY = {"statuses": UNAVAILABLE, "seconds": UNAVAILABLE_SECONDS}
TRIALS = (
    Trial("200 heads", _slow_heads),
    Trial("200 bodies", _slow_bodies),
    Trial("1,000 connections", partial(_requests, size=1_000)),
    Trial("2,000 requests", partial(_requests, size=2_000)),
    Trial("PostgreSQL stopped", _stopped_postgresql, ("postgresql",), **AWAY),
    Trial("Redis stopped", _stopped_redis, ("postgresql",)),
    Trial("rows locked", _locked_rows, ("postgresql",)),
    Trial("log not read", _paused_log),
    Trial("exports and printed lists", partial(_pages, paths=EXPORTS, size=40)),
    Trial("5 imports", _imports),
    Trial("60 searches", partial(_pages, paths=SEARCHES, size=60)),
)


def play(run: Run, trial: Trial, engine: str) -> None:
    """Disturb the service while another project calls it twice a second."""
    with _stage(run, engine) as stage:
        service = stage.service
        for _ in run.each_trial():
            [worker] = service.workers
            memory = worker.memory_info().rss
            _judge(stage, trial)
            growth = _peak(worker.pid) - memory
            run.require(service.workers == [worker], "a worker was killed")
            run.figures["growth_mb"] = round(growth / 1e6)
            run.require(growth < MOST_GROWTH_BYTES, f"{growth:,} bytes more")
        run.faults += service.gunicorn.tracebacks()


def _judge(stage: Stage, trial: Trial) -> None:
    """Judge what others get during the disturbance, and what all get after it."""
    run, service = stage.run, stage.service
    calls = {"pause_seconds": OTHER_SECONDS, "adds": True}
    with (
        load(service.url, [""], path="/healthz", pause_seconds=PROBE_SECONDS) as probes,
        load(service.url, [stage.other_key], **calls) as others,
    ):
        probes.run(OTHER_SECONDS)
        trial.disturb(stage)
        others.run(BACK_SECONDS)
        back = service.send()
        run.require(back.status == 200, f"{back.status} a second after the end")
    health = p99([answer.seconds for answer in probes.answers])
    run.figures["healthz_p99_ms"] = round(health * 1000)
    run.require(health <= run.limit(HEALTHY_SECONDS), f"/healthz: {health:.3f} s")
    run.faults += [f"/healthz: {status}" for status in probes.statuses() - {200}]
    run.figures["others"] = len(others.answers)
    run.figures["others_slowest_ms"] = round(others.slowest() * 1000)
    for answer in others.answers:
        is_in_time = answer.seconds <= run.limit(trial.seconds)
        is_kept = answer.status in trial.statuses and is_in_time
        run.require(is_kept, f"another: {answer.status} after {answer.seconds:.2f} s")


@contextmanager
def _stage(run: Run, engine: str) -> Iterator[Stage]:
    with ExitStack() as stack:
        database = redis = None
        environ = {"DATABASE_URL": f"sqlite:///{run.directory / 'petstore.db'}"}
        if engine == "postgresql":
            database = stack.enter_context(postgres())
            server = Server(servers.free_port(), run.directory / "redis")
            redis = stack.enter_context(server)
            environ = {"DATABASE_URL": database.url, "REDIS_URL": redis.url}
        else:
            migrate(environ["DATABASE_URL"])
        room = "--worker-connections 2100"  # for the largest crowd, and others
        environ |= {"WEB_CONCURRENCY": "1", "GUNICORN_CMD_ARGS": room}
        key, other_key = issue_key(environ), issue_key(environ)
        _fill(environ["DATABASE_URL"])
        gunicorn = PipedGunicorn(run.directory, environ)
        stack.callback(gunicorn.stop)
        gunicorn.wait_until_it_serves()
        service = Service(gunicorn, key)
        yield Stage(run, service, gunicorn, other_key, database, redis)


def _fill(url: str) -> None:
    """Give each project animals and orders, unless it has some."""
    with opened(url):
        db.execute_sql(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL"
            f" SELECT n + 1 FROM n WHERE n < {ANIMALS}) INSERT INTO pet"
            " (project_id, name, category_id, status, folded)"
            " SELECT id, 'Rex ' || n, 1, 'available', 'rex ' || n FROM n, project"
            " WHERE NOT EXISTS (SELECT 1 FROM pet WHERE pet.project_id = project.id)"
        )
        db.execute_sql(
            "INSERT INTO pet_order"
            " (project_id, pet_id, status, created_ms, updated_ms, folded)"
            " SELECT project_id, id, 'cancelled', 0, 0, '' FROM pet"
            " WHERE id > (SELECT COALESCE(MAX(pet_id), 0) FROM pet_order)"
        )
        if not db.file:
            db.execute_sql("ANALYZE")


def _peak(pid: int) -> int:
    """Return the most memory that a process has ever used."""
    with open(f"/proc/{pid}/status") as status:
        [line] = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


NOBODY_STOPS_ANOTHER = tuple(
    Campaign(f"{trial.name}: {engine}", 3, 1, partial(play, trial=trial, engine=engine))
    for trial in TRIALS
    for engine in trial.stores
)
