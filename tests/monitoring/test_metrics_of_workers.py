"""/metrics sums over all workers, also those that have ended, in files of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.harness import servers
from tests.harness.samples import Samples
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

WORKERS = 2
SERVED_BY_ONE = 40  # requests after which a worker is recycled
REQUESTS = 200
CLIENTS = 4
ASKED = {
    "/v1/pets": ("list_pets", "200"),
    "/v1/pets/1": ("get_pet", "404"),
    "/v1/nowhere": ("unknown", "404"),
    "/v1/pets?limit=0": ("list_pets", "400"),
    "/openapi.json": ("openapi", "200"),
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory for the metrics, with a file of somebody else."""
    directory = tmp_path / "metrics"
    directory.mkdir()
    (directory / "precious.db").touch()
    return directory


@pytest.fixture
def environ(sqlite_url: str, directory: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": sqlite_url,
        "WEB_CONCURRENCY": str(WORKERS),
        "PROMETHEUS_MULTIPROC_DIR": str(directory),
    }


@pytest.fixture
def service(environ: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    recycled = ["--max-requests", str(SERVED_BY_ONE), "--max-requests-jitter", "10"]
    with serving(tmp_path, environ, *recycled) as service:
        yield service


def scraped(service: Service) -> Samples:
    return Samples(service.send("/metrics").content.decode())


def test_every_request_is_counted_exactly_once(service: Service):
    first_workers = set(service.workers)
    paths = list(islice(cycle(ASKED), REQUESTS))
    with ThreadPoolExecutor(CLIENTS) as pool:
        statuses = list(pool.map(lambda path: service.send(path).status, paths))
    assert statuses == [int(ASKED[path][1]) for path in paths]
    samples = scraped(service)
    by_operation = samples.by("petstore_requests_total", "operation", "status")
    assert by_operation == dict.fromkeys(ASKED.values(), REQUESTS // len(ASKED))
    assert samples.total("petstore_request_duration_seconds_count") == REQUESTS
    wait_until(lambda: first_workers != set(service.workers), "none is recycled")


def test_each_master_has_a_directory_of_its_own_until_it_ends(
    service: Service, directory: Path
):
    def counted() -> float:
        service.send()
        return scraped(service).total("petstore_requests_total")

    def own() -> set[Path]:
        return set(directory.glob("petstore-metrics-*"))

    assert counted() == 1
    [first] = own()
    service.gunicorn.reload()
    assert (counted(), own()) == (2, {first})
    service.gunicorn.replace()
    assert counted() == 1
    [second] = own()
    assert second.parent == first.parent != first
    service.gunicorn.master.terminate()
    wait_until(lambda: not own(), "the directory is not deleted")
    assert [path.name for path in directory.iterdir()] == ["precious.db"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "x"),
        ("DATABASE_URL", "sqlite:///{}/other.db"),
        ("PROMETHEUS_MULTIPROC_DIR", "{}/metrics/precious.db"),
    ],
)
def test_refused_start_is_one_line_and_leaves_no_directory(
    environ: dict[str, str], directory: Path, tmp_path: Path, name: str, value: str
):
    refused = servers.refused_gunicorn(environ | {name: value.format(tmp_path)})
    assert refused.returncode == 1
    [line] = [line for line in refused.stderr.splitlines() if '"INFO"' not in line]
    assert line.startswith("Error: ")
    assert [path.name for path in directory.iterdir()] == ["precious.db"]


def test_commands_leave_no_files(environ: dict[str, str], directory: Path):
    assert servers.flask(environ, "projects", "list").returncode == 0
    assert [path.name for path in directory.iterdir()] == ["precious.db"]
