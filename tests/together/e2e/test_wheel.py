"""A wheel of the service serves from an empty environment, away from the checkout."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from petstore.settings import RELEASE
from tests.harness.documents import commands_below
from tests.harness.servers import ROOT, free_port, running
from tests.harness.shell import printed_by, printed_in_shell
from tests.together.e2e.test_readme import require_what_the_comments_say

PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
PACKAGED = ("petstore", "pyproject.toml", "setup.cfg", "requirements.txt", "README.md")


@pytest.fixture(scope="module")
def petstore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment in which only the wheel is installed."""
    source, place = (tmp_path_factory.mktemp(name) for name in ("source", "place"))
    for path in (ROOT / name for name in (*PACKAGED, "LICENSE")):
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, source / path.name)
    printed_by([sys.executable, *PIP, "wheel", "--no-deps", "-w", place, source])
    [wheel] = place.glob("petstore-*.whl")
    printed_by([sys.executable, "-m", "venv", place / "venv"])
    printed_by([place / "venv/bin/python", *PIP, "install", wheel])
    return place / "venv/bin/petstore"


@pytest.fixture(scope="module")
def served(petstore: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict]:
    """The settings of a service that the command serves, with the demo project."""
    port, place = free_port(), tmp_path_factory.mktemp("served")
    environ = {"DATABASE_URL": f"sqlite:///{place}/petstore.db", "PORT": f"{port}"}
    for command in ("migrate", "demo"):
        printed_by([petstore, command], env=environ, cwd=place)
    with running([str(petstore), "serve"], port, place / "log", environ, place):
        yield environ


def test_command_says_the_version_of_the_service(petstore: Path):
    assert printed_by([petstore, "--version"]).split()[-1] == RELEASE


def test_tour_does_what_its_comments_say(petstore: Path, served: dict[str, str]):
    [tour] = commands_below("README.md", "A tour")
    tour = tour.replace(".venv/bin/flask", str(petstore))
    tour = tour.replace("127.0.0.1:8000", f"127.0.0.1:{served['PORT']}")
    require_what_the_comments_say(printed_in_shell(tour, **served).splitlines())
