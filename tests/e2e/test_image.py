"""deploy/Containerfile: the image is built, looked at and run as the page says."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e import encrypted
from tests.harness import podman
from tests.harness.clients import Client
from tests.harness.containers import Store, directory_with_room
from tests.harness.documents import commands_below
from tests.harness.servers import ROOT, free_port, stop, wait_for_answer, wait_for_port
from tests.harness.tours import require_what_the_comments_say
from tests.harness.waiting import wait_until

FIRST, CUSTOMER, RESTORE, UPGRADE = commands_below(
    "docs/operating.md", "In a container"
)
[BUILD, RELEASE_AND_START] = FIRST.splitlines()[-2:]
TAG = "localhost/" + re.search(r"--tag (\S+)", BUILD)[1]
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines()
)
DATA = "/var/lib/petstore"
MOST_BYTES, MOST_OWN_BYTES = 200_000_000, 65_000_000
PATIENCE_SECONDS = 25
UNSIGNED = "?ssl_cert_reqs=none"
STARTS = 4  # the first one, after the restore, the upgrade and the way back
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
    """A directory in which `podman` has built the image, as the page prints it."""
    room = directory_with_room()
    with tempfile.TemporaryDirectory(prefix="petstore-image-", dir=room) as name:
        directory = Path(name)
        podman.install(directory, ROOT)
        try:
            shell(directory, BUILD)
            yield directory
        finally:
            podman.kill_all(directory)


@pytest.fixture(scope="module")
def store(place: Path) -> Store:
    return Store(place)


def shell(place: Path, commands: str) -> str:
    """Run commands where `podman` works in this directory; return what they print."""
    found = f"{place / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eu", "-c", commands],
        cwd=ROOT,
        env=os.environ | {"PATH": found},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout.strip()


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


def test_image_takes_the_tour_is_healthy_and_stops_gracefully(store: Store, data: Path):
    port = free_port()
    health = store.config_of(TAG)["Healthcheck"]["Test"]
    assert health[0] == "CMD"
    environ = {"PORT": f"{port}", "http_proxy": f"http://127.0.0.1:{free_port()}"}
    healthy = store.command(TAG, data, health[1:], environ)
    for words in (["release"], ["flask", "demo"]):
        output_of(store.command(TAG, data, words, {}))
    with started(store, data, port) as web:
        assert subprocess.call(healthy) == 0
        [tour] = commands_below("README.md", "A tour")
        flask = shlex.join(store.command(TAG, data, ["flask"], {}))
        tour = tour.replace(".venv/bin/flask", flask)
        tour = tour.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{port}")
        lines = output_of(["bash", "-eu", "-o", "pipefail", "-c", tour]).splitlines()
        require_what_the_comments_say(lines)
        os.kill(podman.first_process(web.pid), signal.SIGTERM)
        assert web.wait(PATIENCE_SECONDS) == 0
    refused = subprocess.run(healthy, stderr=subprocess.DEVNULL, check=False)
    assert refused.returncode == 1


def test_image_migrates_postgresql_and_reaches_redis(store: Store, data: Path):
    with tempfile.TemporaryDirectory(prefix="petstore-stores-") as name:
        places = [Path(name, each) for each in ("postgresql", "redis")]
        Path(name).chmod(0o755)
        for each in places:
            each.mkdir()
        with (
            encrypted.postgresql(places[0]) as database,
            encrypted.redis(places[1]) as redis,
        ):
            environ = {"DATABASE_URL": database, "REDIS_URL": redis + UNSIGNED}
            release = store.command(TAG, data, ["release"], environ)
            assert "applied 0026_domain_columns" in output_of(release)
            # On a busy machine, a connection may take longer than the command waits.
            check = store.command(TAG, data, ["flask", "check"], environ)
            wait_until(lambda: subprocess.run(check, check=False).returncode == 0)


def test_commands_of_the_page_start_back_up_restore_upgrade_and_go_back(place: Path):
    port = free_port()
    functions = FIRST.partition(BUILD)[0].replace(":8000:", f":{port}:")
    url = f"http://127.0.0.1:{port}"
    shell(place, functions + RELEASE_AND_START)
    wait_for_answer(url)
    slug, key = shell(place, f"cd {place}; {CUSTOMER}").splitlines()
    assert slug == "city-shelter"
    assert (place / "monday.db").is_file()
    with Client(url, key) as customer:
        pet = {"name": "Later", "categoryId": 1}
        assert customer.send("POST", "/v1/pets", pet).status == 201
    for commands in (RESTORE, *UPGRADE.splitlines()):
        shell(place, functions + commands)
        wait_for_answer(url)
    with Client(url, key) as customer:
        assert customer.get("/v1/pets").json == []
    assert (place / "web.log").read_text().count("Listening at") == STARTS
