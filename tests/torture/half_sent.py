"""A campaign of incomplete requests, which must not slow down other clients."""

import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from statistics import median, quantiles
from urllib.parse import urlsplit

from tests.load import load
from tests.services import Service, serving
from tests.torture.campaign import Outcome, Run
from tests.torture.databases import migrated_sqlite

LEAST_ROUNDS = 3
HELD_FOR_A_ROUND = 100  # so more held requests mean more rounds
CLIENTS = 2
SECONDS = 1.5
PAUSE_SECONDS = 0.002
MOST_TIMES_THE_BASELINE = 2.0
# Smaller differences are noise of the machine.
NOISE_MS = 3.0


def play(run: Run) -> Outcome:
    """Measure other clients without and with the held requests, in turn."""
    outcome = Outcome(trials=run.trials)
    p99s: dict[bool, list[float]] = {False: [], True: []}
    environ = {"DATABASE_URL": migrated_sqlite(run.directory), "WEB_CONCURRENCY": "2"}
    with serving(run.directory, environ) as service:
        _p99_ms(service, outcome)
        rounds = max(LEAST_ROUNDS, run.trials // HELD_FOR_A_ROUND)
        for number in range(2 * rounds):
            is_held = bool(number % 2)
            with ExitStack() as stack:
                if is_held:
                    held = stack.enter_context(_held(service, run))
                p99s[is_held].append(_p99_ms(service, outcome))
                if is_held and not _are_open(held):
                    outcome.faults.append("the held requests were not held")
    before, during = (median(p99s[is_held]) for is_held in (False, True))
    if during > MOST_TIMES_THE_BASELINE * before + NOISE_MS:
        outcome.faults.append(f"p99 was {before:.1f} ms, and then {during:.1f} ms")
    outcome.figures = {
        "p99_ms": round(before, 1),
        "p99_with_them_ms": round(during, 1),
        "times": round(during / before, 2),
    }
    return outcome


@contextmanager
def _held(service: Service, run: Run) -> Iterator[list[socket.socket]]:
    """Open connections that have each sent a part of a request."""
    place = urlsplit(service.url)
    with ExitStack() as stack:
        held = []
        for _ in range(run.trials):
            client = socket.create_connection((place.hostname, place.port), 10)
            held.append(stack.enter_context(client))
            client.sendall(_part(run.dice, service.key))
        time.sleep(0.2)
        yield held


def _part(dice: random.Random, key: str) -> bytes:
    """Return a request that is cut off at a random place of its head or body."""
    body = b'{"name": "Rex", "categoryId": 5}'
    head = (
        f"POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    whole = head + body
    return whole[: dice.randrange(1, len(whole))]


def _p99_ms(service: Service, outcome: Outcome) -> float:
    keys = [service.key] * CLIENTS
    with load(service.url, keys, pause_seconds=PAUSE_SECONDS) as everybody:
        everybody.run(SECONDS)
    refused = [a.status for a in everybody.answers if a.status != 200]
    outcome.faults += [f"an honest client got {status}" for status in refused]
    return quantiles([a.seconds * 1000 for a in everybody.answers], n=100)[98]


def _are_open(held: list[socket.socket]) -> bool:
    """Return whether the service has closed none of the connections."""
    for client in held:
        client.setblocking(False)
        with suppress(BlockingIOError):
            client.recv(1)
            return False
    return True
