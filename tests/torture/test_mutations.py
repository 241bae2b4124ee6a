"""Requests with broken bytes: a correct response, an error or none."""

import random
import re
import socket
from pathlib import Path

from tests.harness.services import Service, serving
from tests.harness.smuggling import smuggled
from tests.harness.wire import Wire, get, post
from tests.torture.conftest import TIMES

REQUESTS = 2_000
BODY = b'{"name": "Rex", "categoryId": 5}'
STATUS = re.compile(rb"(?:HTTP/1\.1 100 Continue\r\n\r\n)*HTTP/1\.1 [234]\d\d ")
PIECES = (b"\r\n", b"\n", b"\0", b" ", b":", b",", b"0", b"chunked", b"%", b"\xff")


def test_mutated_requests_break_nothing(
    sqlite_url: str, tmp_path: Path, dice: random.Random
):
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, environ) as service:
        workers = service.workers
        for _ in range(REQUESTS * TIMES):
            sent = mutated(service, dice)
            received = received_for(service, sent)
            assert not received or STATUS.match(received), (sent, received)
            assert b"X-Request-ID: hidden" not in received, sent
        assert service.workers == workers
        assert not service.gunicorn.tracebacks()


def mutated(service: Service, dice: random.Random) -> bytes:
    """Return requests of which some bytes are replaced, added, repeated or left out."""
    head = post(service.key, f"Content-Length: {len(BODY)}")
    case = dice.choice(list(smuggled("x", service.key, "outer", "hidden")))
    if dice.random() < 0.3:
        return case.content
    sent = dice.choice([get(service.key), head + BODY]) * dice.randrange(1, 4)
    for _ in range(dice.randrange(1, 5)):
        start = dice.randrange(len(sent))
        end = start + dice.choice([0, 0, 1, 40])
        piece = dice.choice(
            [*PIECES, bytes([dice.randrange(256)]), sent[start:end] * 2]
        )
        sent = sent[:start] + piece + sent[end:]
    return sent


def received_for(service: Service, sent: bytes) -> bytes:
    """Return all that is received over a connection that sends no more than this."""
    with Wire(service.url) as wire:
        wire.send(sent).socket.shutdown(socket.SHUT_WR)
        return wire.rest()
