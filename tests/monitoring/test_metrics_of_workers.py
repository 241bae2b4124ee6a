"""/metrics sums over all workers, also those that have ended, in files of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.harness import servers
from tests.harness.samples import Samples
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

CLIENTS, EACH = 4, 25
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
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    return environ | {"PROMETHEUS_MULTIPROC_DIR": str(directory)}


@pytest.fixture
def service(environ: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, environ) as service:
        yield service


def test_every_request_is_counted_once_until_the_master_ends(
    service: Service, directory: Path
):
    def scraped() -> Samples:
        return Samples(service.send("/metrics").content.decode())

    def own() -> set[Path]:
        return set(directory.glob("petstore-metrics-*"))

    [first] = own()
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(service.send, [*ASKED] * EACH))
    assert [str(each.status) for each in answers] == [
        status for _, status in [*ASKED.values()] * EACH
    ]
    service.gunicorn.reload()
    by_operation = scraped().by("petstore_requests_total", "operation", "status")
    assert by_operation == dict.fromkeys(ASKED.values(), EACH)
    observed = scraped().total("petstore_request_duration_seconds_count")
    assert (observed, own()) == (EACH * len(ASKED), {first})
    service.gunicorn.master.terminate()
    wait_until(lambda: not own(), "the directory is not deleted")
    assert [path.name for path in directory.iterdir()] == ["precious.db"]


def test_refused_start_is_one_line_and_leaves_no_directory_nor_do_commands(
    environ: dict[str, str], directory: Path
):
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
