"""A campaign of mutated requests: each gets a correct answer, an error or none."""

import itertools
import random
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.harness.campaign import Run
from tests.harness.mutants import mutated
from tests.harness.patience import PATIENT
from tests.harness.services import Service
from tests.harness.smuggling import smuggled
from tests.harness.stage import WORKERS, deployed
from tests.torture.checks import Sent, faults_of

AT_ONCE = 24
LIMIT_SECONDS = 60
MOST_IN_A_ROW = 16
SMUGGLED_SHARE = 0.3
LIMITS = PATIENT


@dataclass
class Exchange:
    """What is sent and received over one connection."""

    sent: Sent
    began_at: float = field(default_factory=time.monotonic)
    received: bytearray = field(default_factory=bytearray)

    @property
    def answers(self) -> int:
        """The number of answers received; each has a request id."""
        return self.received.count(b"\r\nX-Request-ID: ")


def play(run: Run) -> None:
    """Send mutated requests over many connections at once and check the answers."""
    with deployed(run, limits=LIMITS) as service:
        workers = service.gunicorn.wait_for_workers(WORKERS)
        started = time.monotonic()
        silent = 0
        for exchange in _exchanges(service, run):
            sent = exchange.sent
            run.done += exchange.answers
            silent += not exchange.received
            for fault in faults_of(sent, bytes(exchange.received)):
                run.faults.append(f"{fault} to {sent.content[-600:]!r}")
        seconds = time.monotonic() - started
        run.require(set(service.workers) == set(workers), "a worker died")
        is_up = service.send().status == 200
        run.require(is_up, "the service does not serve any more")
        run.faults += service.gunicorn.tracebacks()
    run.figures = {
        "a_second": round(run.done / seconds),
        "without_answer": silent,
    }


def _exchanges(service: Service, run: Run) -> Iterator[Exchange]:
    """Yield each exchange when it ends."""
    place = urlsplit(service.url)
    contents, answers = _contents(run.dice, service.key), 0
    with selectors.DefaultSelector() as selector:
        while answers < run.trials or selector.get_map():
            while answers < run.trials and len(selector.get_map()) < AT_ONCE:
                sent = next(contents)
                client = _send(place.hostname, place.port, sent.content)
                selector.register(client, selectors.EVENT_READ, Exchange(sent))
            for key, _ in selector.select(1):
                if not _read(key.fileobj, key.data):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    answers += key.data.answers
                    yield key.data
            _require_progress(selector)


def _contents(dice: random.Random, key: str) -> Iterator[Sent]:
    """Yield the requests for one connection after another, the framed ones first."""
    for number in itertools.count():
        begun = [
            mutated(dice, key, f"{number}-{place}")
            for place in range(dice.randrange(MOST_IN_A_ROW))
        ]
        framed = list(itertools.takewhile(lambda mutant: mutant.is_framed, begun))
        last, hidden = mutated(dice, key, f"{number}-last"), f"{number}-hidden"
        if dice.random() < SMUGGLED_SHARE:
            last = dice.choice(list(smuggled("x", key, f"{number}-last", hidden)))
        after = mutated(dice, key, f"{number}-after")
        parts = [mutant.content for mutant in (*framed, last, after)]
        ids = [f"{number}-{place}" for place in range(len(framed))]
        yield Sent(b"".join(parts), ids, [f"{number}-last", f"{number}-after"], hidden)


def _send(host: str, port: int, content: bytes) -> socket.socket:
    """Connect, send the content, and end the sending direction."""
    client = socket.create_connection((host, port), LIMIT_SECONDS)
    # The service may close the connection before everything is sent.
    with suppress(ConnectionError):
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
    client.setblocking(False)
    return client


def _read(client: socket.socket, exchange: Exchange) -> bool:
    try:
        received = client.recv(1 << 20)
    except ConnectionError:
        return False
    exchange.received += received
    return bool(received)


def _require_progress(selector: selectors.BaseSelector) -> None:
    for key in selector.get_map().values():
        waited = time.monotonic() - key.data.began_at
        assert waited < LIMIT_SECONDS, key.data.sent.content[-600:]
