"""One project sends what it can: others are served."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest

from petstore.models.searching import FOLDING
from petstore.storage import db
from petstore.timeouts import Limits
from tests.harness.browser import shown_choices
from tests.harness.load import load
from tests.harness.services import Service, issue_key, serving
from tests.harness.stage import opened
from tests.harness.visitors import Visitor
from tests.harness.wire import Wire, get
from tests.together.torture.conftest import TIMES

# Limits of time are longer in the short form, which runs on machines that are busy.
SLOWER = 20 if TIMES == 1 else 1
HEALTHY_SECONDS = 0.25 * SLOWER  # /healthz, p99
SERVED_SECONDS = 0.5 * SLOWER  # another project
MOST_REFUSED = 0.25 if TIMES == 1 else 0.0  # share of the other project's requests
PROBE_SECONDS, OTHER_SECONDS = 0.01, 0.5  # between two requests
BACK_SECONDS = 1.0
ANIMALS = 10_000
LINES = 15_300  # as many as a file of 60 KiB can have
MOST_GROWTH_BYTES = 150 * 1024 * 1024
STATUSES = {b"200", b"201", b"303", b"429", b"503"}
CLOSE = "Connection: close"
ADDRESSES = [f"127.0.1.{number}" for number in range(1, 9)]
ROOM = "--worker-connections 2100"  # for the largest crowd, and others


class Stage(NamedTuple):
    """The service in one worker, and the key of another project."""

    service: Service
    other_key: str

    def send_at_once(self, *requests: bytes, size: int) -> None:
        """Send a request on each of so many connections, and read all responses."""
        with ExitStack() as stack:
            wires = [
                stack.enter_context(Wire(self.service.url, address=address))
                for address in islice(cycle(ADDRESSES), size)
            ]
            for wire, request in zip(wires, cycle(requests), strict=False):
                wire.send(request)
            answers = [wire.rest() for wire in wires]
            assert {answer[9:12] for answer in answers} <= STATUSES
            chunked = [each for each in answers if b"\r\nTransfer-Enc" in each]
            assert all(each.endswith(b"\r\n0\r\n\r\n") for each in chunked)


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, new_database: Callable[[str], str], tmp_path: Path
) -> Iterator[Stage]:
    environ = {"DATABASE_URL": new_database(request.param), "WEB_CONCURRENCY": "1"}
    if request.param == "postgresql":
        environ["REDIS_URL"] = request.getfixturevalue("redis_url")
    key, other_key = issue_key(environ), issue_key(environ)
    fill(environ)
    options = (tmp_path, environ, *ROOM.split())
    with serving(*options, key=key, limits=Limits()) as service:
        yield Stage(service, other_key)


def fill(environ: dict[str, str]) -> None:
    """Give each project animals."""
    with opened(environ):
        db.execute_sql(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL"
            f" SELECT n + 1 FROM n WHERE n < {ANIMALS}) INSERT INTO pet"
            " (project_id, name, category_id, status, folded)"
            " SELECT id, 'Rex ' || n, 1, 'available',"
            f" '{FOLDING}rex ' || n FROM n, project"
        )


def many(stage: Stage) -> None:
    request = get(stage.service.key, CLOSE, path="/v1/pets?limit=10")
    stage.send_at_once(request, size=2_000)


def signed_in(stage: Stage, visitor: Visitor) -> str:
    """Return the headers of somebody who has signed in, for the last request."""
    host = urlsplit(stage.service.url).netloc  # the cookie's name contains its port
    return f"Host: {host}\r\nCookie: {visitor.cookie}\r\n{CLOSE}"


def exports(stage: Stage) -> None:
    visitor = Visitor(stage.service.url, stage.service.key)
    head = f"{signed_in(stage, visitor)}\r\n\r\n"
    requests = [
        f"GET /dashboard/{path} HTTP/1.1\r\n{head}".encode()
        for path in ("animals.csv", "animals?whole=1", "animals?name=9+rex")
    ]
    stage.send_at_once(*requests, size=60)


def imports(stage: Stage) -> None:
    visitor = Visitor(stage.service.url, stage.service.key)
    path = visitor.upload("name,categoryId\n" + "a,1\n" * LINES)
    page = visitor.get(path.removeprefix("/dashboard"))
    body = urlencode(shown_choices(page))
    head = (
        f"{path} HTTP/1.1\r\n{signed_in(stage, visitor)}\r\n"
        "Sec-Fetch-Site: same-origin\r\nContent-Type: "
        f"application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    requests = f"GET {head}{body}".encode(), f"POST {head}{body}".encode()
    stage.send_at_once(*requests, size=5)


def question(stage: Stage) -> None:
    visitor = Visitor(stage.service.url, stage.service.key)
    path = visitor.upload("name,categoryId\n" + "a,1\n" * LINES)
    head = f"{signed_in(stage, visitor)}\r\n\r\n"
    others = ["/dashboard/animals.csv"] * 20 + ["/dashboard/animals?name=9+rex"] * 60
    paths = [f"GET {each} HTTP/1.1\r\n{head}".encode() for each in (path, *others)]
    stage.send_at_once(*paths, size=len(paths))


DISTURBANCES = {
    "a question, 20 exports and 60 searches": (question, ("sqlite", "postgresql")),
    "2,000 requests": (many, ("sqlite", "postgresql")),
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
        require_others_are_served(stage, disturb)
    assert stage.service.workers == [worker]
    assert peak_of(worker.pid) - memory < MOST_GROWTH_BYTES
    assert not stage.service.gunicorn.tracebacks()


def require_others_are_served(stage: Stage, disturb: Callable[[Stage], None]) -> None:
    """Judge what others get during the disturbance, and what all get after it."""
    url = stage.service.url
    with (
        load(url, [""], path="/healthz", pause_seconds=PROBE_SECONDS) as probes,
        load(url, [stage.other_key], pause_seconds=OTHER_SECONDS, adds=True) as others,
    ):
        time.sleep(OTHER_SECONDS)
        disturb(stage)
        time.sleep(BACK_SECONDS)
        assert stage.service.send().status == 200
    assert probes.statuses() == {200}
    health = quantiles([answer.seconds for answer in probes.answers], n=100)[98]
    assert health <= HEALTHY_SECONDS
    assert others.statuses() <= {200, 201, 503}
    refused = sum(not answer.is_served for answer in others.answers)
    assert refused <= MOST_REFUSED * len(others.answers)
    assert others.slowest() <= SERVED_SECONDS


def peak_of(pid: int) -> int:
    """Return the most memory that a process has ever used."""
    with open(f"/proc/{pid}/status") as status:
        [line] = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
