"""Imports that are killed, or run at once with others that add animals."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Plan
from tests.harness.clients import PETS, Client
from tests.harness.programs import Program
from tests.harness.servers import ROOT, flask
from tests.harness.services import AMPLE
from tests.harness.waiting import wait_until
from tests.together.races.conftest import Service, of_both_engines

ANIMALS, AT_ONCE = 3_000, 2
NAMES = [f"Animal {number}" for number in range(ANIMALS)]
KILLED_AFTER_SECONDS = (0.3, 0.6, 0.9)
LIMIT, ROUNDS = 60, 2


@pytest.fixture
def key(key_of: Callable) -> str:
    """A key of a new project."""
    return key_of(AMPLE)


@pytest.fixture
def client(service: Service, key: str) -> Iterator[Client]:
    """A client with the key."""
    with Client(service.urls[0], key) as client:
        yield client


def command_for(key: str, file: Path, names: list[str]) -> list[str]:
    """Return the command that imports animals into the project of a key."""
    file.write_text("name,category\n" + "".join(f"{name},Dogs\n" for name in names))
    slug = Key.find_by_prefix(key[:16]).project.slug
    return ["animals", "import", str(file), "--project", slug, "--again"]


@pytest.fixture
def start(
    service: Service, key: str, tmp_path: Path
) -> Iterator[Callable[[], Program]]:
    """A function that starts an import."""
    command = command_for(key, tmp_path / "animals.csv", NAMES)
    environ = os.environ | service.environ
    with Path(os.devnull).open("wb") as out:
        outputs = (out.fileno(), out.fileno())
        yield lambda: Program(["flask", *command], environ, ROOT, outputs)


def names_after(client: Client, after: int) -> tuple[list[str], int]:
    rows = client.all_of(PETS, after)
    return [row["name"] for row in rows], rows[-1]["id"] if rows else after


@of_both_engines
def test_killed_import_has_added_all_animals_or_none(
    client: Client, start: Callable[[], Program]
):
    for seconds in KILLED_AFTER_SECONDS:
        program = start()
        program.join(seconds)
        program.kill()
        program.join()
        names, _ = names_after(client, 0)
        assert names == NAMES * (len(names) // ANIMALS)
    assert client.post({"name": "Rex", "categoryId": 7}).status == 201


@of_both_engines
def test_reader_that_follows_sees_each_animal_of_imports_at_once(
    client: Client, start: Callable[[], Program]
):
    programs = [start() for _ in range(AT_ONCE)]
    seen, after = [], 0

    def read_on() -> bool:
        nonlocal after
        names, after = names_after(client, after)
        seen.extend(names)
        return all(program.poll() is not None for program in programs)

    wait_until(read_on, "the imports go on")
    read_on()
    assert seen == NAMES * AT_ONCE


@of_both_engines
def test_exactly_the_limit_of_rows_fits_whatever_adds_them(
    service: Service, key_of: Callable, tmp_path: Path
):
    for number in range(ROUNDS):
        key = key_of(Plan("enterprise", 10**6, 10**6, LIMIT))
        command = command_for(key, tmp_path / f"{number}.csv", NAMES[:7])
        pet = {"name": "Rex", "categoryId": 10**9}
        with ExitStack() as stack, ThreadPoolExecutor() as threads:
            crowd = [
                stack.enter_context(Client(each, key)) for each in service.urls * 4
            ]
            imports = [threads.submit(flask, service.environ, *command) for _ in "ab"]
            adding = [threads.submit(fill, each, pet) for each in crowd]
            statuses = [status for each in adding for status in each.result()]
            done = [each.result().returncode for each in imports]
            added = len(crowd[0].all_of(PETS))
            assert added == statuses.count(201) + 7 * done.count(0)
            assert added + len(crowd[0].all_of("/v1/categories")) == LIMIT


def fill(client: Client, pet: dict) -> list[int | None]:
    """Add animals until the project is full; return all statuses."""
    statuses = [client.post(pet).status]
    while statuses[-1] == 201:
        statuses.append(client.post(pet).status)
    return statuses
