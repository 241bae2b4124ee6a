"""Tests that only writers wait for SQLite's locks."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness.databases import locked
from tests.harness.services import Service

REX = {"name": "Rex", "categoryId": 7}


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


@pytest.mark.parametrize(
    ("status", "body", "media_type"),
    [
        (400, {"name": "Rex"}, "application/json"),
        (413, "x" * 65536, "application/json"),
        (415, REX, "text/plain"),
    ],
)
def test_body_with_an_idempotency_key_is_refused_without_the_writers_lock(
    service: Service, file: str, status: int, body: object, media_type: str
):
    headers = {"Idempotency_Key": "a", "Content_Type": media_type}
    with locked(file):
        assert service.send(body=body, **headers).status == status
