"""The metric files of workers: kept counts, damage and removal."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from tempfile import gettempdir

import psutil
import pytest

from tests.harness import servers
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

PLACES = (Path("/dev/shm"), Path(gettempdir()))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory for the metrics, with a file of somebody else."""
    directory = tmp_path / "metrics"
    directory.mkdir()
    (directory / "precious").touch()
    return directory


@pytest.fixture
def environ(sqlite_url: str, directory: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": sqlite_url,
        "WEB_CONCURRENCY": "2",
        "PROMETHEUS_MULTIPROC_DIR": str(directory),
    }


@pytest.fixture
def service(environ: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, environ) as service:
        yield service


def counted(service: Service) -> int:
    """Return the number of requests that /metrics reports."""
    lines = service.send("/metrics").content.decode().splitlines()
    totals = [line for line in lines if line.startswith("petstore_requests_total")]
    return int(sum(float(line.rpartition(" ")[2]) for line in totals))


def kill_all(service: Service) -> None:
    """Kill every worker, and wait until they are replaced."""
    workers = service.workers
    for worker in workers:
        worker.kill()
    service.gunicorn.wait_for_workers(len(workers), without=workers)


def made_by(process: psutil.Process | Popen) -> list[Path]:
    """Return the directories that a master has made for its metrics."""
    name = f"petstore-metrics-{process.pid}-*"
    return [each for place in PLACES for each in place.glob(name)]


def test_counts_of_killed_workers_are_kept_until_the_shutdown(
    environ: dict[str, str], tmp_path: Path, directory: Path
):
    with serving(tmp_path, environ) as service:
        for _ in range(20):
            service.send()
        kill_all(service)
        service.send()
        assert counted(service) == 21
        (directory / "counter_1.db").touch()  # of another service
    assert {path.name for path in directory.iterdir()} == {"precious", "counter_1.db"}


def test_new_workers_go_on_in_the_files_of_those_that_have_ended(
    service: Service, directory: Path
):
    def has_two_files_for_each_of_two_workers() -> bool:
        return len(list(directory.glob("*.db"))) == 2 * 2

    for number in range(1, 6):
        wait_until(has_two_files_for_each_of_two_workers)
        for _ in range(4):
            service.send()
        kill_all(service)
        wait_until(has_two_files_for_each_of_two_workers)
        assert counted(service) == 4 * number


def test_service_survives_the_loss_of_its_metric_files(
    service: Service, directory: Path
):
    shutil.rmtree(directory)
    assert {service.send().status for _ in range(20)} == {200}
    assert service.send("/metrics").status == 200
    shutil.rmtree(directory)
    directory.touch()  # so that the directory cannot be made
    kill_all(service)
    assert {service.send().status for _ in range(20)} == {200}
    directory.unlink()
    kill_all(service)
    service.send()
    assert counted(service) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "x"), ("DATABASE_URL", "sqlite:///{}/other.db")]
)
def test_refused_start_leaves_a_given_directory_alone(
    environ: dict[str, str], directory: Path, tmp_path: Path, name: str, value: str
):
    environ |= {name: value.format(tmp_path)}
    assert servers.refused_gunicorn(environ).returncode == 1
    assert [path.name for path in directory.iterdir()] == ["precious"]


def test_directory_that_cannot_be_made_is_refused_in_one_line(
    environ: dict[str, str], directory: Path
):
    environ |= {"PROMETHEUS_MULTIPROC_DIR": str(directory / "precious")}
    refused = servers.refused_gunicorn(environ)
    [line] = [line for line in refused.stderr.splitlines() if '"INFO"' not in line]
    assert line.startswith("Error: PROMETHEUS_MULTIPROC_DIR: ")


def test_each_master_keeps_its_own_directory_until_it_ends(
    sqlite_url: str, tmp_path: Path
):
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        service.send()
        old = service.gunicorn.master
        service.gunicorn.reload()
        service.send()
        assert counted(service) == 2
        assert len(made_by(old)) == 1
        service.gunicorn.replace()
        new = service.gunicorn.master
        service.send()
        assert counted(service) == 1
        assert (len(made_by(new)), made_by(old)) == (1, [])
        new.terminate()
        wait_until(lambda: not servers.is_alive(new))
        assert made_by(new) == []


def test_commands_leave_no_files(environ: dict[str, str], directory: Path):
    assert servers.flask(environ, "projects", "list").returncode == 0
    assert [path.name for path in directory.iterdir()] == ["precious"]
