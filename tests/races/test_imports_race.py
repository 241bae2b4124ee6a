"""Imports that are killed, or run at once: in the end all animals are there, once."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from petstore.models.keys import Key
from tests.harness.clients import PETS, Client
from tests.harness.programs import Program
from tests.harness.servers import ROOT, flask
from tests.harness.services import AMPLE
from tests.harness.waiting import wait_until
from tests.races.conftest import Service, of_both_engines

ANIMALS, AT_ONCE = 5_000, 3
NAMES = [f"Animal {number}" for number in range(ANIMALS)]


@pytest.fixture
def key(key_of: Callable) -> str:
    """A key of a new project."""
    return key_of(AMPLE)


@pytest.fixture
def client(service: Service, key: str) -> Iterator[Client]:
    """A client with the key."""
    with Client(service.urls[0], key) as client:
        yield client


@pytest.fixture
def command(key: str, tmp_path: Path) -> list[str]:
    """The command that imports a file into the project."""
    file = tmp_path / "animals.csv"
    file.write_text("name,category\n" + "".join(f"{name},Dogs\n" for name in NAMES))
    slug = Key.by_prefix(key[:16]).project.slug
    return ["animals", "import", str(file), "--project", slug]


@pytest.fixture
def start(service: Service, command: list[str], tmp_path: Path) -> Callable:
    """A function that starts the command, which prints into the file."""

    def start(number: int) -> Program:
        with (tmp_path / f"{number}.out").open("wb") as out:
            outputs = (out.fileno(), out.fileno())
            environ = os.environ | service.environ
            return Program(["-m", "flask", *command], environ, ROOT, outputs)

    return start


def names_after(client: Client, after: int) -> tuple[list[str], int]:
    rows = client.all_of(PETS, after)
    return [row["name"] for row in rows], rows[-1]["id"] if rows else after


@of_both_engines
def test_workers_finish_what_a_killed_command_has_begun(
    service: Service, client: Client, command: list[str], start: Callable
):
    program = start(0)
    wait_until(lambda: client.get(PETS).json, "nothing is imported")
    program.kill()
    program.join()
    wait_until(lambda: len(names_after(client, 0)[0]) == ANIMALS, "some are missing")
    again = flask(service.environ, *command)
    assert (again.returncode, again.stdout) == (0, "0\n")
    assert names_after(client, 0)[0] == NAMES


@of_both_engines
def test_reader_that_follows_sees_each_animal_of_imports_at_once(
    client: Client, start: Callable, tmp_path: Path
):
    programs = [start(number) for number in range(AT_ONCE)]
    seen, after = [], 0

    def read_on() -> bool:
        nonlocal after
        names, after = names_after(client, after)
        seen.extend(names)
        return all(program.poll() is not None for program in programs)

    wait_until(read_on, "the imports go on")
    read_on()
    assert seen == NAMES
    outputs = [(tmp_path / f"{each}.out").read_text() for each in range(AT_ONCE)]
    added = [line for text in outputs for line in text.splitlines() if line.isdigit()]
    assert sorted(added) == ["0", "0", str(ANIMALS)]
