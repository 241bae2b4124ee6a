"""Tests for a full disk: writes get 503, reads succeed, and no data is lost."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pytest

from petstore.database import data
from tests.clients import Answer, Client
from tests.clusters import until
from tests.faults.conftest import Serve
from tests.servers import Gunicorn


@pytest.fixture
def key(issue: Callable) -> str:
    return issue()[1]


@pytest.fixture
def service(serve: Serve, key: str) -> Gunicorn:
    """A service with one worker that has already served a request."""
    service = serve(WEB_CONCURRENCY="1")
    assert ids(service, key) == []
    return service


def add(service: Gunicorn, key: str) -> Answer:
    with Client(service.url, key) as client:
        return client.post({"name": "Rex", "categoryId": 7})


def left_after_adding(service: Gunicorn, key: str) -> int:
    return add(service, key).day_left


def ids(service: Gunicorn, key: str) -> list[int]:
    with Client(service.url, key) as client:
        return [pet["id"] for pet in client.get("/v1/pets?limit=100").json]


def worker_of(service: Gunicorn) -> psutil.Process:
    [worker] = psutil.Process(service.process.pid).children()
    return worker


@contextmanager
def full_disk(service: Gunicorn) -> Iterator[None]:
    """Prevent the worker from extending any file, including its log."""
    pid, unlimited = worker_of(service).pid, resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, unlimited))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))


def test_write_on_full_disk_returns_503_with_retry_after(service: Gunicorn, key: str):
    add(service, key)
    with full_disk(service):
        answers = [add(service, key) for _ in range(6)]
    for answer in answers:
        assert (answer.status, answer.json["code"]) == (503, "service_unavailable")
        assert answer.headers["Retry-After"] == "1"


def test_reads_succeed_while_disk_is_full(service: Gunicorn, key: str):
    added = [add(service, key).json["id"] for _ in range(3)]
    with full_disk(service):
        assert [ids(service, key) for _ in range(6)] == [added] * 6


def test_reads_succeed_after_a_failed_write(service: Gunicorn, key: str):
    added = add(service, key).json["id"]
    with full_disk(service):
        assert add(service, key).status == 503
        assert [ids(service, key) for _ in range(6)] == [[added]] * 6


def test_acknowledged_writes_survive_a_full_disk(service: Gunicorn, key: str):
    before = [add(service, key).json["id"] for _ in range(3)]
    with full_disk(service):
        for _ in range(6):
            add(service, key)
    after = [add(service, key) for _ in range(6)]
    assert {answer.status for answer in after} == {201}
    assert ids(service, key) == before + [answer.json["id"] for answer in after]


def test_quota_count_resumes_after_disk_was_full(service: Gunicorn, key: str):
    before = [left_after_adding(service, key) for _ in range(6)]
    with full_disk(service):
        assert left_after_adding(service, key) > before[-1]  # counted in memory
    until(lambda: left_after_adding(service, key) < before[-1])


def test_full_disk_causes_no_crash_and_no_traceback(service: Gunicorn, key: str):
    worker = worker_of(service)
    with full_disk(service):
        add(service, key)
    add(service, key)
    assert worker_of(service) == worker
    assert "Traceback" not in service.log.read_text()


def test_memory_mapped_metrics_are_in_dev_shm(service: Gunicorn):
    worker = worker_of(service)
    mapped = [mapping.path for mapping in worker.memory_maps()]
    counts = [path for path in mapped if path.endswith(f"_{worker.pid}.db")]
    assert counts
    assert all(path.startswith("/dev/shm/") for path in counts)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_original_error_is_raised_after_sqlite_rolls_back():
    def commit_on_a_full_disk() -> None:
        with data.atomic():
            data.connection().execute("ROLLBACK")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        commit_on_a_full_disk()
    with data.atomic():
        data.execute_sql("SELECT 1")
