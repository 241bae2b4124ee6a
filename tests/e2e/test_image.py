"""deploy/Containerfile: the image is built, looked at and run."""

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.containers import Store, directory_with_room, first_process
from tests.harness.servers import ROOT, free_port, stop, wait_for_answer, wait_for_port

TAG = "localhost/petstore"
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines()
)
DATA = "/var/lib/petstore"
MOST_BYTES, MOST_OWN_BYTES = 200_000_000, 65_000_000
PATIENCE_SECONDS = 25
FIND_WRITABLE = """
import os
for place, directories, _ in os.walk("/"):
    if place == "/":
        directories.remove("proc")
    if os.access(place, os.W_OK):
        print(place)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory in memory, where there is room."""
    room = directory_with_room()
    with tempfile.TemporaryDirectory(prefix="petstore-image-", dir=room) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def store(place: Path) -> Store:
    """A store in which the image was built."""
    store = Store(place)
    store.import_base()
    store.build(ROOT / "deploy/Containerfile", str(ROOT), TAG, "docker")
    return store


def size_of(directory: Path) -> int:
    files = [path for path in directory.rglob("*") if not path.is_symlink()]
    return sum(path.stat().st_size for path in files if path.is_file())


def test_image_is_small(store: Store):
    root = store.root_of(TAG)
    assert size_of(root) < MOST_BYTES
    assert size_of(root / "opt/petstore") < MOST_OWN_BYTES


def test_image_holds_what_runs_and_nothing_else(store: Store):
    own = store.root_of(TAG) / "opt/petstore"
    delivered = {"LICENSE", "Procfile", "gunicorn.conf.py", "petstore", "wsgi.py"}
    assert {path.name for path in own.iterdir()} == delivered | {".venv"}
    assert not [*own.glob(".venv/lib/*/site-packages/pip*")]
    for source in (own / "petstore").rglob("*.py"):
        assert [*source.parent.glob(f"__pycache__/{source.stem}.*.pyc")], source


def test_image_runs_what_the_procfile_says(store: Store):
    config = store.config_of(TAG)
    assert config["Cmd"] == shlex.split(PROCFILE["web"])
    release = store.root_of(TAG) / "opt/petstore/.venv/bin/release"
    assert release.read_text() == f"#!/bin/sh\nexec {PROCFILE['release']}\n"
    assert config["User"] == "10001:10001"
    assert not config["Entrypoint"]


def test_delivered_base_has_the_python_version_of_the_project():
    text = (ROOT / "deploy/Containerfile").read_text()
    version = (ROOT / ".python-version").read_text().strip()
    assert f"ARG BASE=docker.io/library/python:{version}-slim\n" in text


@pytest.fixture
def data(place: Path) -> Iterator[Path]:
    """The empty volume of a container."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        os.chown(name, 10001, 10001)
        yield Path(name)


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def test_only_the_data_and_memory_can_be_written(store: Store, data: Path):
    found = output_of(store.command(TAG, data, ["python", "-c", FIND_WRITABLE], {}))
    assert sorted(found.split()) == ["/dev/shm", "/tmp", DATA]


@contextmanager
def started(store: Store, data: Path, port: int) -> Iterator[subprocess.Popen]:
    """Run the command of the image for the duration of the block."""
    web = subprocess.Popen(
        store.command(TAG, data, [], {"PORT": f"{port}", "WEB_CONCURRENCY": "2"})
    )
    try:
        wait_for_port(port, web)
        wait_for_answer(f"http://127.0.0.1:{port}")
        yield web
    finally:
        stop(web)


def test_image_is_healthy_and_stops_gracefully(store: Store, data: Path):
    port = free_port()
    health = store.config_of(TAG)["Healthcheck"]["Test"]
    assert health[0] == "CMD"
    environ = {"PORT": f"{port}", "http_proxy": f"http://127.0.0.1:{free_port()}"}
    healthy = store.command(TAG, data, health[1:], environ)
    for words in (["release"], ["flask", "demo"]):
        output_of(store.command(TAG, data, words, {}))
    with started(store, data, port) as web:
        assert subprocess.call(healthy) == 0
        os.kill(first_process(web.pid), signal.SIGTERM)
        assert web.wait(PATIENCE_SECONDS) == 0
    refused = subprocess.run(healthy, stderr=subprocess.DEVNULL, check=False)
    assert refused.returncode == 1
