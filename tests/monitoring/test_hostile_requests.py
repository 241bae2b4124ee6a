"""Mutated requests are logged in one line each and do not harm the service."""

import itertools
import random
import socket
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from tests.harness.mutants import mutated
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

COUNT = 300
SEED = 20270317


def hostile_requests(key: str) -> list[bytes]:
    """Return mutated requests whose ends are unambiguous."""
    dice = random.Random(SEED)
    mutants = (mutated(dice, key, f"r-{number}") for number in itertools.count())
    framed = (mutant.content for mutant in mutants if mutant.is_framed)
    return list(itertools.islice(framed, COUNT))


def answer_to(service: Service, request: bytes) -> tuple[int, str]:
    """Send the request; return the status of the response, and its only id."""
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    status, *fields = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    assert len(headers) == len(fields), "no header is repeated"
    return int(status.split(" ")[1]), headers["X-Request-ID"]


def test_each_hostile_request_is_one_readable_log_line(sqlite_url: str, tmp_path: Path):
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        sent = hostile_requests(service.key)
        answers = [answer_to(service, request) for request in sent]
        wait_until(lambda: len(service.lines()) > COUNT)
        lines = service.lines()[1:]  # the first request only waited for the service
        assert service.send().status == 200
    assert Counter(line["event"] for line in lines) == {"request": COUNT}
    # Each worker writes its own.
    assert Counter((line["status"], line["id"]) for line in lines) == Counter(answers)
    statuses = {status for status, _ in answers}
    # Many requests reach the application, and none makes it fail.
    assert statuses >= {200, 400, 401, 404, 405}
    assert max(statuses) < 500
