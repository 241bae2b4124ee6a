"""deploy/Containerfile: the image is built, looked at and run."""

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.harness.servers import (
    ROOT,
    children_of,
    free_port,
    stop,
    wait_for_answer,
    wait_for_port,
)
from tests.together.e2e.containers import Image, directory_with_room

FILE = ROOT / "deploy/Containerfile"
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines()
)
MOST_BYTES, MOST_OWN_BYTES = 200_000_000, 65_000_000
PATIENCE_SECONDS = 25


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    room = directory_with_room()
    with tempfile.TemporaryDirectory(prefix="petstore-image-", dir=room) as name:
        yield Image(Path(name), FILE, ROOT)


def size_of(directory: Path) -> int:
    files = [path for path in directory.rglob("*") if not path.is_symlink()]
    return sum(path.stat().st_size for path in files if path.is_file())


def test_image_is_small_and_holds_what_runs_and_nothing_else(image: Image):
    own = image.root / "opt/petstore"
    assert size_of(image.root) < MOST_BYTES
    assert size_of(own) < MOST_OWN_BYTES
    delivered = {"LICENSE", "Procfile", "gunicorn.conf.py", "petstore", "wsgi.py"}
    assert {path.name for path in own.iterdir()} == delivered | {".venv"}
    assert not [*own.glob(".venv/lib/*/site-packages/pip*")]
    for source in (own / "petstore").rglob("*.py"):
        assert [*source.parent.glob(f"__pycache__/{source.stem}.*.pyc")], source


def test_image_runs_what_the_procfile_says(image: Image):
    assert image.config["Cmd"] == shlex.split(PROCFILE["web"])
    release = image.root / "opt/petstore/.venv/bin/release"
    assert release.read_text() == f"#!/bin/sh\nexec {PROCFILE['release']}\n"
    assert image.config["User"] == "10001:10001"
    assert not image.config["Entrypoint"]
    version = (ROOT / ".python-version").read_text().strip()
    assert f"ARG BASE=docker.io/library/python:{version}-slim\n" in FILE.read_text()


@contextmanager
def started(image: Image, port: int) -> Iterator[subprocess.Popen]:
    """Run the command of the image for the duration of the block."""
    environ = {"PORT": f"{port}", "WEB_CONCURRENCY": "2"}
    web = subprocess.Popen(image.command(environ=environ))
    try:
        wait_for_port(port, web)
        wait_for_answer(f"http://127.0.0.1:{port}")
        yield web
    finally:
        stop(web)


def test_image_is_healthy_and_stops_gracefully(image: Image):
    port = free_port()
    kind, *health = image.config["Healthcheck"]["Test"]
    assert kind == "CMD"
    environ = {"PORT": f"{port}", "http_proxy": f"http://127.0.0.1:{free_port()}"}
    healthy = image.command(health, environ)
    for words in (["release"], ["flask", "demo"]):
        subprocess.run(image.command(words), check=True)
    with started(image, port) as web:
        assert subprocess.call(healthy) == 0
        [first] = children_of(psutil.Process(web.pid))
        os.kill(first.pid, signal.SIGTERM)
        assert web.wait(PATIENCE_SECONDS) == 0
    refused = subprocess.run(healthy, stderr=subprocess.DEVNULL, check=False)
    assert refused.returncode == 1
