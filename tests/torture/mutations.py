"""Requests at the hands of dice: each gets a right answer, an Error, or none."""

import random
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.services import Service, serving
from tests.torture.campaign import Outcome, Run
from tests.torture.databases import migrated_sqlite
from tests.torture.judges import faults_of
from tests.torture.mutants import mutated
from tests.torture.waiting import wait_until

WORKERS = 2
AT_ONCE = 24
PATIENCE_SECONDS = 20


@dataclass
class Exchange:
    """One connection: what is sent on it, and what came back."""

    sent: bytes
    began_at: float = field(default_factory=time.monotonic)
    received: bytearray = field(default_factory=bytearray)


def play(run: Run) -> Outcome:
    """Send them, many at once, and judge what comes back."""
    outcome = Outcome()
    environ = {"DATABASE_URL": migrated_sqlite(run.directory)}
    environ["WEB_CONCURRENCY"] = str(WORKERS)
    with serving(run.directory, environ) as service:
        wait_until(lambda: len(service.workers) == WORKERS, "no workers")
        workers = {worker.pid for worker in service.workers}
        started = time.monotonic()
        silent = 0
        for exchange in _exchanges(service, run):
            outcome.trials += 1
            silent += not exchange.received
            for fault in faults_of(exchange.sent, bytes(exchange.received)):
                outcome.faults.append(f"{fault} to {exchange.sent[:300]!r}")
        seconds = time.monotonic() - started
        if {worker.pid for worker in service.workers} != workers:
            outcome.faults.append("a worker died")
        if service.ask().status != 200:
            outcome.faults.append("the service does not serve any more")
        for log in (service.gunicorn.log, run.directory / "gunicorn-errors.log"):
            found = log.read_bytes().count(b"Traceback")
            outcome.faults += [f"a traceback in {log.name}"] * found
    outcome.figures = {
        "a_second": round(outcome.trials / seconds),
        "without_answer": silent,
    }
    return outcome


def _exchanges(service: Service, run: Run) -> Iterator[Exchange]:
    """All exchanges, each as it ends."""
    place = urlsplit(service.url)
    dice = run.dice
    begun = 0
    with selectors.DefaultSelector() as selector:
        while begun < run.trials or selector.get_map():
            while begun < run.trials and len(selector.get_map()) < AT_ONCE:
                begun += 1
                client, exchange = _begin(place.hostname, place.port, dice, service.key)
                selector.register(client, selectors.EVENT_READ, exchange)
            for key, _ in selector.select(1):
                if not _read(key.fileobj, key.data):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    yield key.data
            _require_progress(selector)


def _begin(
    host: str, port: int, dice: random.Random, key: str
) -> tuple[socket.socket, Exchange]:
    """Send a mutant, sometimes a few at once, and say that this is all."""
    count = dice.choice([1, 1, 1, 2, 4])
    sent = b"".join(mutated(dice, key) for _ in range(count))
    client = socket.create_connection((host, port), PATIENCE_SECONDS)
    # Who has heard enough may hang up before all is sent.
    with suppress(ConnectionError):
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
    client.setblocking(False)
    return client, Exchange(sent)


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
        assert waited < PATIENCE_SECONDS, key.data.sent[:300]
