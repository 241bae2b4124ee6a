"""Tests that only writers wait for SQLite's locks and syncs."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from tests.harness.crowds import at_once
from tests.harness.databases import locked
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
SLOW_DISK = ("--worker-class", "tests.together.faults.slow_disk.SlowDiskWorker")
CLIENTS, CREATES = 18, 5  # of each client


@pytest.fixture
def service(service: Service) -> Service:
    """The service, with a key of a project that has one animal."""
    assert service.send(body=REX).status == 201
    return service


@pytest.fixture
def file(service_environ: dict[str, str]) -> str:
    return service_environ["DATABASE_URL"].removeprefix("sqlite:///")


def test_only_writers_wait_for_a_lock(service: Service, file: str):
    with ThreadPoolExecutor(4) as pool:
        with locked(file):
            pending = [pool.submit(service.send, body=REX) for _ in range(4)]
            for path in ("/v1/pets", "/healthz"):
                assert service.send(path).status == 200
            assert not any(each.done() for each in pending)
        assert {each.result().status for each in pending} == {201}


def test_writes_wait_for_their_sync_and_reads_do_not(sqlite_url: str, tmp_path: Path):
    hold, wal = tmp_path / "hold", tmp_path / "petstore.db-wal"
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "1"}
    environ["SYNC_HOLD"] = str(hold)
    with (
        serving(tmp_path, environ, *SLOW_DISK) as service,
        ThreadPoolExecutor(4) as pool,
    ):
        # The first writes of a process sync the beginning of each log.
        assert service.send(body=REX).status == 201
        size = wal.stat().st_size
        hold.touch()
        pending = [pool.submit(service.send, body=REX) for _ in range(4)]
        try:
            wait_until(lambda: wal.stat().st_size > size)
            assert [service.send().status for _ in range(5)] == [200] * 5
            assert not any(each.done() for each in pending)
        finally:
            hold.unlink()
        assert {each.result().status for each in pending} == {201}


def test_slow_disk_serves_as_many_creates_with_keys_of_their_own_as_without(
    sqlite_url: str, tmp_path: Path
):
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    environ["SYNC_SECONDS"] = "0.06"
    with serving(tmp_path, environ, *SLOW_DISK) as service:

        def statuses(number: int, kind: str) -> list[int | None]:
            names = [f"{kind}-{number}-{each}" for each in range(CREATES)]
            keys = [{"Idempotency-Key": name} if kind else {} for name in names]
            with service.client() as client:
                return [client.post(REX, **key).status for key in keys]

        for kind in ("", "retried"):
            crowd = at_once(partial(statuses, kind=kind), range(CLIENTS))
            assert Counter(chain(*crowd)) == {201: CLIENTS * CREATES}
