"""Hostile requests are logged in one line each and do not harm the service."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.ops.hostile import requests
from tests.services import Service, serving

COUNT = 300
SEED = 20270317


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


def answer_to(service: Service, request: bytes) -> bytes:
    """Send the request as it is and return all that the service sends back."""
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def head_of(answer: bytes) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of a response."""
    status, *fields = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    assert len(headers) == len(fields), "no header stands twice"
    return int(status.split(" ")[1]), headers


def test_each_hostile_request_is_one_readable_log_line(service: Service):
    sent = list(requests(SEED, COUNT, service.key))
    answers = [head_of(answer_to(service, request)) for request in sent]
    lines = service.lines()[1:]  # the first request only tested that the service is up
    assert [line["event"] for line in lines] == COUNT * ["request"]
    logged = [(line["status"], line["id"]) for line in lines]
    assert logged == [(status, head["X-Request-ID"]) for status, head in answers]
    statuses = {status for status, _ in answers}
    # Many requests reach the application, and none makes it fail.
    assert statuses >= {200, 400, 401, 404, 405}
    assert max(statuses) < 500
    assert service.ask().status == 200
