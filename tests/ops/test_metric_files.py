"""The metric files of workers: kept counts, damage and removal."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import Service, serving

SOON_SECONDS = 20
PLACES = (Path("/dev/shm"), Path(tempfile.gettempdir()))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "metrics"
    directory.mkdir()
    return directory


@pytest.fixture
def service(sqlite_url: str, directory: Path, tmp_path: Path) -> Iterator[Service]:
    environ = {
        "DATABASE_URL": sqlite_url,
        "WEB_CONCURRENCY": "2",
        "PROMETHEUS_MULTIPROC_DIR": str(directory),
    }
    with serving(tmp_path, environ) as service:
        yield service


def counted(service: Service) -> int:
    """Return the number of requests that /metrics reports."""
    lines = service.ask("/metrics").content.decode().splitlines()
    totals = [line for line in lines if line.startswith("petstore_requests_total")]
    return int(sum(float(line.rpartition(" ")[2]) for line in totals))


def kill_all(service: Service) -> list[int]:
    """Kill every worker, wait until they are replaced, and return the old PIDs."""
    workers = service.workers
    for worker in workers:
        worker.kill()
    dead = [worker.pid for worker in workers]
    deadline = time.monotonic() + SOON_SECONDS
    while {worker.pid for worker in service.workers} & set(dead):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return dead


def test_counts_of_killed_workers_are_kept_without_their_files(
    service: Service, directory: Path
):
    for _ in range(20):
        service.ask()
    for rounds in range(1, 3):
        dead = kill_all(service)
        service.ask()
        assert counted(service) == 20 + rounds
        files = {path.name for path in directory.iterdir()}
        assert not [name for name in files for pid in dead if f"_{pid}.db" in name]


def test_empty_metric_file_is_ignored_and_removed(service: Service, directory: Path):
    service.ask()
    [pid, *_] = (worker.pid for worker in service.workers)
    (directory / f"summary_{pid}.db").touch()
    assert counted(service) == 1
    kill_all(service)
    assert counted(service) == 1
    assert not (directory / f"summary_{pid}.db").exists()


def test_service_survives_the_loss_of_its_metric_files(
    service: Service, directory: Path
):
    service.ask()
    shutil.rmtree(directory)
    kill_all(service)
    assert service.gunicorn.process.poll() is None
    assert service.ask().status == 200
    assert counted(service) == 1


def test_metric_files_are_removed_at_shutdown(sqlite_url: str, tmp_path: Path):
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        service.ask()
        name = f"petstore-metrics-{service.gunicorn.process.pid}-*"
        assert any(list(place.glob(name)) for place in PLACES)
    assert not any(list(place.glob(name)) for place in PLACES)
