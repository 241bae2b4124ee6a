"""/metrics sums over all workers, also those that have ended, in files of its own."""

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from petstore.timeouts import LIMITS
from tests.harness import servers
from tests.harness.clients import Answer
from tests.harness.samples import Samples
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

CLIENTS, EACH = 4, 25
ASKED = {
    ("GET", "/v1/pets"): ("list_pets", "200"),
    ("HEAD", "/v1/categories"): ("list_categories", "200"),
    ("POST", "/v1/pets"): ("create_pet", "400"),
    ("GET", "/v1/pets/1"): ("get_pet", "404"),
    ("GET", "/v1/nowhere"): ("unknown", "404"),
    ("GET", "/v1/pets?limit=0"): ("list_pets", "400"),
    ("GET", "/openapi.json"): ("openapi", "200"),
}
UNCOUNTED = ("/metrics", "/healthz", "/readyz")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory for the metrics, with a file of somebody else."""
    directory = tmp_path / "metrics"
    directory.mkdir()
    (directory / "precious.db").touch()
    return directory


@pytest.fixture
def environ(sqlite_url: str, directory: Path) -> dict[str, str]:
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    return environ | {"PROMETHEUS_MULTIPROC_DIR": str(directory)}


@pytest.fixture
def service(environ: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, environ) as service:
        yield service


def test_requests_are_counted_until_the_master_ends(service: Service, directory: Path):
    def scraped() -> Samples:
        return Samples(service.send("/metrics").content.decode())

    def ask(request: tuple[str, str]) -> Answer:
        method, path = request
        return service.send(path, {} if method == "POST" else None, method=method)

    def own() -> set[Path]:
        return set(directory.glob("petstore-metrics-*"))

    [first] = own()
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(ask, [*ASKED] * EACH))
    statuses = [status for _, status in ASKED.values()]
    assert [str(each.status) for each in answers] == statuses * EACH
    assert {service.send(path).status for path in UNCOUNTED} == {200}
    for _ in range(3):  # those that end leave their files to the next
        service.gunicorn.reload()
    files = [path.stat().st_size for path in first.iterdir()]
    assert len(files) <= 2 * 2 * len(service.workers)
    assert set(files) == {LIMITS.metrics_bytes}
    by_operation = scraped().by("petstore_requests_total", "operation", "status")
    assert by_operation == dict.fromkeys(ASKED.values(), EACH)
    observed = scraped().total("petstore_request_duration_seconds_count")
    assert (observed, own()) == (EACH * len(ASKED), {first})
    took = scraped().total("petstore_request_duration_seconds_sum")
    assert 0 < took < observed
    service.gunicorn.master.terminate()
    wait_until(lambda: not own(), "the directory is not deleted")
    assert [path.name for path in directory.iterdir()] == ["precious.db"]


def test_new_worker_counts_in_the_files_of_the_one_that_was_killed(
    service: Service, directory: Path
):
    [folder] = directory.glob("petstore-metrics-*")
    files = {*map(str, folder.iterdir())}

    def held() -> list[set[str]]:
        opened = [each.open_files() for each in service.workers]
        return [files & {file.path for file in each} for each in opened]

    for killed in service.workers:  # the first one, and then the last
        killed.kill()
        killed.wait()
        wait_until(lambda: len(found := held()) == 2 and all(found))
        assert not set.intersection(*held())
        service.send()
    assert {*map(str, folder.iterdir())} == files
    samples = Samples(service.send("/metrics").content.decode())
    assert samples.total("petstore_requests_total") == 2


@pytest.fixture
def full_folder(service: Service) -> Iterator[None]:
    """Workers that were started while no file of their size could be made."""
    unlimited = resource.RLIM_INFINITY
    service.gunicorn.master.rlimit(resource.RLIMIT_FSIZE, (100_000, unlimited))
    service.gunicorn.reload()
    for each in (service.gunicorn.master, *service.workers):
        each.rlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))


@pytest.mark.usefixtures("full_folder")
def test_full_folder_costs_metrics_and_no_worker(service: Service):
    workers = service.workers
    assert {service.send().status for _ in range(10)} == {200}
    assert b"petstore_build_info" in service.send("/metrics").content
    assert service.workers == workers
    assert "a worker starts without metrics" in service.gunicorn.log.read_text()
    service.gunicorn.reload()
    service.send()
    assert b'"list_pets"' in service.send("/metrics").content


def test_all_that_can_be_counted_fits(environ: dict[str, str], tmp_path: Path):
    environ |= {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    environ |= {"PETSTORE_BASE_DOMAIN": "pets.example.net"}
    assert (
        servers.run(environ, "tests.extensions.monitoring.every_metric").returncode == 0
    )
    sizes = [path.stat().st_size for path in tmp_path.glob("*_*.db")]
    assert len(sizes) == 2
    assert max(sizes) <= LIMITS.metrics_bytes


def test_refused_start_leaves_no_directory(environ: dict[str, str], directory: Path):
    assert servers.flask(environ, "projects", "list").returncode == 0
    for name, value in (
        ("DATABASE_URL", "sqlite:////nowhere/other.db"),
        ("PROMETHEUS_MULTIPROC_DIR", str(directory / "precious.db")),
    ):
        refused = servers.refused_gunicorn(environ | {name: value})
        assert refused.returncode == 1
        [line] = [line for line in refused.stderr.splitlines() if '"INFO"' not in line]
        assert line.startswith("Error: ")
        assert [path.name for path in directory.iterdir()] == ["precious.db"]
