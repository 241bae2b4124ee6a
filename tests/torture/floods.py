"""The campaigns of strangers who send much or half requests, beside one client."""

import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from tests.e2e.front import BASE, Front, caddy
from tests.e2e.nginx import nginx
from tests.harness import servers
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until
from tests.harness.wire import post
from tests.torture.campaign import Bound, Campaign, Outcome, Run, p99
from tests.torture.stage import database, migrated_sqlite
from tests.torture.strangers import Place

LEAST_ROUNDS = 3
ROUND_SECONDS = 12  # so longer campaigns have more rounds
WARM_UP_SECONDS = 3
PAUSE_SECONDS = 0.005
FLOOD_BOUND = Bound(times=3.0, noise_ms=20.0)
HELD_FOR_A_ROUND = 100  # so more half-sent requests mean more rounds
HELD_SECONDS = 1.5
HELD_BOUND = Bound(times=2.0, noise_ms=3.0)
# In CPU of the workers, which does not depend on how busy the machine is.
MOST_READS_PER_MB = 100
MOST_GROWTH_BYTES = 20 * 1024 * 1024


@contextmanager
def strangers(place: Place, seed: float) -> Iterator[list[int]]:
    """Run the strangers for the duration of the block; list how much they have sent."""
    command = [sys.executable, "-m", "tests.torture.strangers"]
    command += [str(place.port), str(place.is_encrypted), str(seed)]
    process = subprocess.Popen(
        command,
        cwd=servers.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    sent: list[int] = []
    try:
        yield sent
        sent.append(int(process.communicate(timeout=60)[0]))
    finally:
        process.kill()
        process.wait()


class Honest(HTTPConnection):
    """A connection to a place, which is made again when a proxy closes it."""

    place: Place

    def connect(self) -> None:
        self.sock = self.place.connect()


def play(run: Run, engine: str, front: str) -> Outcome:
    """Measure the honest client, time and memory, without and with the strangers."""
    outcome = Outcome(trials=run.trials)
    with ExitStack() as stack:
        environ = {
            "DATABASE_URL": stack.enter_context(database(engine, run)),
            "WEB_CONCURRENCY": "2",
        }
        if engine == "postgresql":
            environ["REDIS_URL"] = stack.enter_context(servers.redis(run.directory))
        if front:
            environ |= {"PETSTORE_BASE_DOMAIN": BASE, "PETSTORE_TRUSTED_PROXIES": "1"}
        service = stack.enter_context(serving(run.directory, environ))
        place = stack.enter_context(FRONTS[front](service, run.directory))
        with strangers(place, run.dice.random()):
            _read(place, service.key, WARM_UP_SECONDS, outcome)
        workers, memory = service.workers, _memory(service)
        _flood(run, service, place, outcome)
        wait_until(
            lambda: _memory(service) < memory + MOST_GROWTH_BYTES, "memory stays used"
        )
        outcome.figures["growth_mb"] = round((_memory(service) - memory) / 1e6, 1)
        if set(service.workers) != set(workers):
            outcome.faults.append("a worker was killed")
        log = service.gunicorn.log.read_text()
        outcome.faults += ["a traceback"] * log.count("Traceback")
    return outcome


def _flood(run: Run, service: Service, place: Place, outcome: Outcome) -> None:
    """Compare rounds without and with the strangers: p99, and CPU of the workers."""
    rounds = max(LEAST_ROUNDS, run.trials // ROUND_SECONDS)
    p99s: dict[bool, list[float]] = {False: [], True: []}
    reads, cpu, sent = Counter[bool](), Counter[bool](), 0
    for is_flooded in (False, True) * rounds:
        cpu[is_flooded] -= _cpu_seconds(service)
        flood = strangers(place, run.dice.random()) if is_flooded else nullcontext([0])
        with flood as sent_bytes:
            times = _read(place, service.key, run.trials / rounds, outcome)
        sent += sum(sent_bytes)
        cpu[is_flooded] += _cpu_seconds(service)
        reads[is_flooded] += len(times)
        p99s[is_flooded].append(p99(times))
    outcome.compare(run, p99s[False], p99s[True], FLOOD_BOUND)
    assert sent, "the strangers sent nothing"
    a_read = cpu[False] / reads[False]
    reads_per_mb = (cpu[True] / a_read - reads[True]) / (sent / 1e6)
    if reads_per_mb > run.limit(MOST_READS_PER_MB):
        outcome.faults.append(f"a MB costs as much as {reads_per_mb:.0f} reads")
    outcome.figures["sent_mb"] = round(sent / 1e6, 1)
    outcome.figures["reads_per_mb"] = round(reads_per_mb)


def hold_half_requests(run: Run) -> Outcome:
    """Measure the honest client without and with many half-sent requests, in turn."""
    outcome = Outcome(trials=run.trials)
    p99s: dict[bool, list[float]] = {False: [], True: []}
    environ = {"DATABASE_URL": migrated_sqlite(run.directory), "WEB_CONCURRENCY": "2"}
    with serving(run.directory, environ) as service, _directly(service, None) as place:
        _read(place, service.key, WARM_UP_SECONDS, outcome)
        rounds = max(LEAST_ROUNDS, run.trials // HELD_FOR_A_ROUND)
        for is_held in (False, True) * rounds:
            with _held(place, service.key, run) if is_held else nullcontext([]) as held:
                times = _read(place, service.key, HELD_SECONDS, outcome)
                if not all(map(_is_open, held)):
                    outcome.faults.append("the half-sent requests were not held")
            p99s[is_held].append(p99(times))
    outcome.compare(run, p99s[False], p99s[True], HELD_BOUND)
    return outcome


@contextmanager
def _held(place: Place, key: str, run: Run) -> Iterator[list[socket.socket]]:
    """Open connections that have each sent a part of a request."""
    body = b'{"name": "Rex", "categoryId": 5}'
    whole = post(key, f"Content-Length: {len(body)}") + body
    with ExitStack() as stack:
        held = [stack.enter_context(place.connect()) for _ in range(run.trials)]
        for client in held:
            client.sendall(whole[: run.dice.randrange(1, len(whole))])
        yield held


def _is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    with suppress(BlockingIOError):
        client.recv(1)
        return False
    return True


def _read(place: Place, key: str, seconds: float, outcome: Outcome) -> list[float]:
    """Return the response times of an honest client, in milliseconds."""
    times = []
    until = time.monotonic() + seconds
    with closing(Honest(BASE)) as honest:
        honest.place = place
        while time.monotonic() < until:
            started = time.monotonic()
            honest.request(
                "GET", "/v1/pets?limit=1", headers={"Authorization": f"Bearer {key}"}
            )
            with honest.getresponse() as answer:
                answer.read()
            times.append((time.monotonic() - started) * 1000)
            if answer.status != 200:
                outcome.faults.append(f"the honest client got {answer.status}")
            time.sleep(PAUSE_SECONDS)
    return times


def _memory(service: Service) -> int:
    return sum(worker.memory_info().rss for worker in service.workers)


def _cpu_seconds(service: Service) -> float:
    spent = [worker.cpu_times() for worker in service.workers]
    return sum(each.user + each.system for each in spent)


@contextmanager
def _directly(service: Service, _directory: Path | None) -> Iterator[Place]:
    yield Place(int(service.url.rpartition(":")[2]))


@contextmanager
def _behind_caddy(service: Service, directory: Path) -> Iterator[Place]:
    front = Front.anywhere(directory)
    upstream = service.url.removeprefix("http://")
    environ = {"PETSTORE_UPSTREAMS": upstream, "PETSTORE_ASK": upstream}
    own = ["local_certs", "skip_install_trust"]
    with caddy(directory / "caddy", front, own, environ):
        place = Place(front.https, is_encrypted=True)
        wait_until(partial(_accepts, place), "Caddy has no certificate")
        yield place


@contextmanager
def _behind_nginx(service: Service, _directory: Path) -> Iterator[Place]:
    with nginx(service.url.removeprefix("http://")) as front:
        yield Place(front.https, is_encrypted=True)


def _accepts(place: Place) -> bool:
    with suppress(OSError), closing(place.connect()):
        return True
    return False


FRONTS = {"": _directly, "caddy": _behind_caddy, "nginx": _behind_nginx}
FLOODS = tuple(
    Campaign(
        f"strangers: {engine}{front and f', {front}'}",
        60,
        6,
        partial(play, engine=engine, front=front),
    )
    for engine in ("sqlite", "postgresql")
    for front in FRONTS
)
