"""Tests for a full disk: writes get 503, reads succeed, and no data is lost."""

import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.services import Service
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}


def add(service: Service) -> int:
    return service.send(body=REX).json["id"]


def ids(service: Service) -> list[int]:
    return [pet["id"] for pet in service.send("/v1/pets?limit=100").json]


@contextmanager
def full_disk(service: Service) -> Iterator[None]:
    """Prevent the worker from extending any file, including its log."""
    [worker], unlimited = service.workers, resource.RLIM_INFINITY
    resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (1, unlimited))
    try:
        yield
    finally:
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    wait_until(lambda: service.send("/readyz").json["counters"] == "ok")
    assert service.workers == [worker]
    assert "Traceback" not in service.gunicorn.log.read_text()


def test_full_disk_refuses_writes_and_loses_nothing(service: Service):
    added = [add(service) for _ in range(3)]
    with full_disk(service):
        assert ids(service) == added
        answer = service.send(body=REX)
        assert (answer.status, answer.json["code"]) == (503, "service_unavailable")
        assert answer.headers["Retry-After"] == "1"
        assert [ids(service) for _ in range(6)] == [added] * 6
        wait_until(lambda: service.send("/readyz").status == 503)
    added.append(add(service))
    assert ids(service) == added


def test_quota_count_resumes_after_disk_was_full(service: Service):
    before = [service.send(body=REX).day_left for _ in range(6)]
    with full_disk(service):
        assert service.send(body=REX).day_left > before[-1]  # counted in memory
    wait_until(lambda: service.send(body=REX).day_left < before[-1])


def test_memory_mapped_metrics_are_in_dev_shm(service: Service):
    [worker] = service.workers
    mapped = [mapping.path for mapping in worker.memory_maps()]
    counts = [path for path in mapped if re.search(r"_\d+\.db$", path)]
    assert counts
    assert all(path.startswith("/dev/shm/") for path in counts)
