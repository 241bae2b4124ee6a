"""Keys of web pages and of another project are turned against a project."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from petstore.models.categories import CategoryTable
from petstore.models.domains import Domain
from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Project
from petstore.models.sessions import Session
from petstore.web.application import is_api_path
from tests.harness import servers
from tests.harness.clients import Answer, Client
from tests.harness.load import load
from tests.harness.services import AMPLE, serving
from tests.harness.stage import opened
from tests.harness.visitors import Visitor
from tests.torture.conftest import TIMES

REQUESTS, CLIENTS = 1_000, 32
SECRET = "Confidential"  # part of every text of the project
ORIGIN = "https://shelter.example"
ORIGINS = (ORIGIN, "https://evil.example", f"{ORIGIN}.evil.example", "null")
A_MINUTE, A_DAY = 10, 25
READS = ("GET", "HEAD")
SHOWN = ("/v1/pets", "/v1/categories")  # to a key for web pages
METHODS = (*READS, "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
UNKNOWN = ("/v1", "/v1/nothing", "/v1/pets/", "//v1/pets", "/V1/pets", "/dashboard/x")
BODIES = (
    *({"name": "Mallory", "categoryId": 1}, {"petId": 1}, {"status": "completed"}),
    *({"name": None}, {"name": "'; DROP TABLE pet; --"}, {"key": "x", "grace": "0"}),
)


@dataclass(frozen=True)
class Attack:
    """A request, of whom it is, and whether its key may read the project."""

    method: str
    path: str
    body: object
    headers: dict[str, str]
    may_read: bool

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with the answer."""
        is_read = self.may_read and self.method in READS and self.path.startswith(SHOWN)
        if answer.status is None or answer.status >= 500:
            return f"{self} was answered {answer.status}"
        if SECRET.encode() in answer.content and not is_read:
            return f"{self} told something of the project"
        return None


class World:
    """A project with rows of every kind, and the keys that are turned against it."""

    def __init__(self) -> None:
        project = Project.add(f"{SECRET} shelter", "victim", AMPLE)
        self.key = Key.issue(project, label=SECRET)
        self.project_id = project.id
        for number in range(9):
            names = {"name": f"{SECRET} {number}", "category_id": 1}
            pet = Pet.add(project.id, status="available", **names)
            Order.place(project.id, pet.id, SECRET)
        Domain.add(project, "shop.example.org")
        grant = Grant(PUBLIC, A_MINUTE, A_DAY, (ORIGIN,))
        self.of_page = Key.issue(project, grant)
        self.of_other = Key.issue(Project.add("Mallory", None, AMPLE))

    def rows(self) -> list[list[tuple]]:
        """Return the rows of the project, but for when its keys were last used."""
        mine = [
            table.select(*(f for f in fields if f.name != "last_used_ms"))
            .where(table.project == self.project_id)
            .tuples()
            for table in (PetTable, OrderTable, CategoryTable, Domain, Key)
            for fields in [table._meta.sorted_fields]
        ]
        return [sorted(query, key=repr) for query in mine]

    def attack(self, dice: random.Random, paths: list[str], cookie: str) -> Attack:
        """Return any request with a key, or with a session, of somebody else."""
        key = dice.choice([self.of_page] * 3 + [self.of_other] * 3 + [""])
        sent = key or self.of_page[:16] + self.of_other[16:]
        headers = {"Authorization": f"Bearer {sent}"}
        if dice.random() < 0.8:
            headers["Origin"] = dice.choice(ORIGINS)
        if dice.random() < 0.2:
            headers |= {"X-HTTP-Method-Override": "POST", "Idempotency-Key": "key-1"}
        if dice.random() < 0.5:
            headers |= {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
        method = dice.choice(METHODS)
        body = None if method in READS else dice.choice(BODIES)
        may_read = sent == self.of_page and headers.get("Origin", ORIGIN) == ORIGIN
        return Attack(method, dice.choice(paths), body, headers, may_read)


@pytest.fixture
def paths(sqlite_url: str) -> list[str]:
    """The paths of all routes with the project's ids, and some that nothing has."""
    routes = servers.flask({"DATABASE_URL": sqlite_url}, "routes").stdout
    rules = set(re.findall(r" (/\S*)", routes))
    return [*sorted(re.sub("<[^>]+>", "1", rule) for rule in rules), *UNKNOWN]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_hostile_keys_neither_see_nor_change_nor_slow_a_project(
    engine: str,
    new_database: Callable[[str], str],
    tmp_path: Path,
    dice: random.Random,
    paths: list[str],
):
    environ = {"DATABASE_URL": new_database(engine), "WEB_CONCURRENCY": "2"}
    with ExitStack() as stack:
        service = stack.enter_context(serving(tmp_path, environ))
        stack.enter_context(opened(environ["DATABASE_URL"]))
        world = World()
        before = world.rows()
        reads = load(service.url, [world.key], pause_seconds=0.02)
        with reads as clients, ThreadPoolExecutor(CLIENTS) as pool:
            seeds = [dice.random() for _ in range(CLIENTS)]
            cookie = Visitor(service.url, world.of_other).cookie
            crowd = partial(go_on, service.url, world, paths, cookie)
            found = list(pool.map(crowd, seeds))
        assert [fault for faults, _ in found for fault in faults] == []
        served = sum((windows for _, windows in found), Counter())
        assert all(count <= A_MINUTE for count in served.values()), served
        assert clients.statuses() == {200}
        assert world.rows() == before
        signed_in = Session.select().join(Key).where(Key.project == world.project_id)
        assert not signed_in.exists()
        assert not service.gunicorn.tracebacks()


def go_on(
    url: str, world: World, paths: list[str], cookie: str, seed: float
) -> tuple[list[str], Counter[str]]:
    """Attack again and again; return what was wrong, and what was granted a minute."""
    dice, faults, granted = random.Random(seed), [], Counter[str]()
    with Client(url, "") as client:
        for attack in attacks(world, dice, paths, cookie):
            answer = client.send(
                attack.method, attack.path, attack.body, **attack.headers
            )
            faults += filter(None, [attack.fault(answer)])
            if attack.headers["Authorization"].endswith(world.of_page):
                is_counted = answer.is_served and is_api_path(attack.path)
                reset = answer.headers.get("X-RateLimit-Reset", "")
                granted[reset] += is_counted
    return faults, granted


def attacks(
    world: World, dice: random.Random, paths: list[str], cookie: str
) -> Iterator[Attack]:
    """Yield a client's share of all requests."""
    for _ in range(REQUESTS * TIMES // CLIENTS):
        yield world.attack(dice, paths, cookie)
