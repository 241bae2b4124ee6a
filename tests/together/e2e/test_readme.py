"""README.md: a stranger's first commands do what they say."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.documents import commands_below
from tests.harness.servers import free_port, running
from tests.harness.shell import printed_in_shell

SAMPLE, ANIMALS = commands_below("README.md", "Pet Store Service")[0].splitlines()
START, TESTS = commands_below("README.md", "Start")
CLONE, _, RUN = START.splitlines()
BOTH = ["name", "categoryId"]
QUOTA = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]


@dataclass(frozen=True)
class FirstRun:
    """A running `make run`, and what it has printed."""

    bin: Path
    url: str
    environ: dict[str, str]
    printed: list[str]

    def shell(self, commands: str, **environ: str) -> list[str]:
        """Run commands as they are printed, and return the lines of their output."""
        for printed, here in {
            ".venv/bin": str(self.bin),
            "http://127.0.0.1:8000": self.url,
            "https://api.example.org": self.url,
        }.items():
            commands = commands.replace(printed, here)
        return printed_in_shell(commands, **self.environ | environ).splitlines()


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstRun]:
    """`make run` where the packages of requirements.txt are installed already."""
    venv = tmp_path_factory.mktemp("venv")
    (venv / "bin").symlink_to(Path(sys.executable).parent)
    (venv / "run.stamp").touch()
    port, log = free_port(), venv / "log"
    environ = {"DATABASE_URL": f"sqlite:///{venv}/petstore.db", "PORT": f"{port}"}
    with running([*RUN.split(), f"VENV={venv}"], port, log, environ):
        printed = log.read_text().splitlines()
        yield FirstRun(venv / "bin", f"http://127.0.0.1:{port}", environ, printed)


@pytest.fixture
def pasted(first_run: FirstRun) -> str:
    """The curl line that `make run` prints."""
    [line] = [line for line in first_run.printed if line.startswith("  curl")]
    return line


def test_three_commands_lead_to_a_running_service_and_one_to_its_tests():
    assert CLONE == "git clone REPOSITORY petstore"
    assert (RUN, TESTS) == ("make run", "make test\n")


def test_printed_curl_line_lists_the_animals(first_run: FirstRun, pasted: str):
    [animals] = first_run.shell(pasted)
    assert [animal["id"] for animal in json.loads(animals)][:10] == [*range(1, 11)]


def test_first_sample_answers_as_shown(first_run: FirstRun, pasted: str):
    key = pasted.partition("Bearer ")[2].partition("'")[0]
    assert first_run.shell(SAMPLE.removeprefix("$ "), KEY=key) == [ANIMALS]


def test_tour_does_what_its_comments_say(first_run: FirstRun):
    [tour] = commands_below("README.md", "A tour")
    require_what_the_comments_say(first_run.shell(tour))


def require_what_the_comments_say(lines: list[str]) -> None:
    """Check the lines that the tour prints on a database with the demo project."""
    answers, headers = lines[:7], lines[7:]
    coco, animals, renamed, category, order, done, error = map(json.loads, answers)
    assert (coco["id"], coco["name"]) == (11, "Coco")
    assert coco in animals
    assert renamed == coco | {"name": "Coco II"}
    assert category == {"id": 7, "name": "Birds"}
    assert (order["status"], done["status"]) == ("placed", "completed")
    assert [part.split(":")[0] for part in error["message"].split("; ")] == BOTH
    assert [header.partition(":")[0].lower() for header in headers] == QUOTA
