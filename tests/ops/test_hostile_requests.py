"""Whatever is sent, it is one line of the log, and nobody else notices."""

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
    """Send it as it is; all that comes back until the service hangs up."""
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def head_of(answer: bytes) -> tuple[int, dict[str, str]]:
    """The status of an answer and its headers."""
    status, *fields = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    assert len(headers) == len(fields), "no header stands twice"
    return int(status.split(" ")[1]), headers


def test_each_hostile_request_is_one_line_that_can_be_read(service: Service):
    sent = list(requests(SEED, COUNT, service.key))
    answers = [head_of(answer_to(service, request)) for request in sent]
    lines = service.lines()[1:]  # the first request was to see that it serves
    assert [line["event"] for line in lines] == COUNT * ["request"]
    logged = [(line["status"], line["id"]) for line in lines]
    assert logged == [(status, head["X-Request-ID"]) for status, head in answers]
    statuses = {status for status, _ in answers}
    # Many come as far as the application, and nothing breaks it.
    assert statuses >= {200, 400, 401, 404, 405}
    assert max(statuses) < 500
    assert service.ask().status == 200
