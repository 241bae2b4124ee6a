"""The campaigns of crowds: thousands of requests at once, beside one client."""

import json
import resource
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial

from tests.harness import servers
from tests.harness.campaign import Campaign, Run
from tests.harness.clients import PETS, Client
from tests.harness.services import Service, issue_key
from tests.harness.stage import cpu_seconds, memory_of, require_memory_returns
from tests.harness.waiting import wait_until
from tests.torture.crowd import FORGED
from tests.torture.fronts import client_at, deployed_behind
from tests.torture.strangers import Place

ONE_PET = f"{PETS}?limit=1"
FEW = 8  # a small crowd is so many times smaller
SPARE_DESCRIPTORS = 200
ANSWERED_SECONDS = 60.0
RECOVERED_SECONDS = 2.0
AFTER = "others_after_ms"
NAMES = {FORGED: "forged keys", "": "no key"}
# Served in a second of CPU, large crowd to small: most of the large one is refused, and
# that costs about as much.
LEAST_RATE = 0.1


@dataclass
class Crowds:
    """Crowds of a run, one after the other, and the client beside them."""

    run: Run
    service: Service
    place: Place
    other: Client

    def come(self, size: int, key: str, *, stays: bool) -> float:
        """Let a crowd come; return how many it had served in a second of CPU.

        Then require that the other client and `/healthz` are answered in time.
        """
        cpu = -cpu_seconds(self.service)
        received = self._answers(size, key, stays=stays)
        seconds = wait_until(self._others_are_served, "the others are not served")
        cpu += cpu_seconds(self.service)
        what = f"{size} with {NAMES.get(key, 'a key')}, {'stay' if stays else 'leave'}"
        are_answered = not (received["waiting"] or received["0"])
        self.run.require(are_answered, f"{what}: {dict(received)}")
        is_soon = seconds < self.run.limit(RECOVERED_SECONDS)
        self.run.require(is_soon, f"{what}: others served {seconds:.1f} s later")
        slowest = max(self.run.figures.get(AFTER, 0), round(seconds * 1000))
        self.run.figures[AFTER] = slowest
        return (received.total() - received["503"] - received["waiting"]) / cpu

    def _answers(self, size: int, key: str, *, stays: bool) -> Counter[str]:
        """Let a crowd come; return how often it received each status."""
        asked = {"port": self.place.port, "is_encrypted": self.place.is_encrypted}
        asked |= {"size": size, "key": key, "stays": stays}
        asked |= {"seed": self.run.dice.random()}
        asked |= {"seconds": self.run.limit(ANSWERED_SECONDS)}
        with subprocess.Popen(
            [sys.executable, "-m", "tests.torture.crowd", json.dumps(asked)],
            cwd=servers.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as crowd:
            assert crowd.stdout.readline(), "the crowd could not connect"
            return Counter(json.loads(crowd.communicate("\n")[0]))

    def _others_are_served(self) -> bool:
        answers = (self.other.get(path) for path in ("/healthz", ONE_PET))
        return all(answer.is_served for answer in answers)


def play(run: Run, engine: str, front: str, has_redis: bool) -> None:
    """Let crowds with a key, with forged ones and with none come, stay and leave."""
    size = min(run.trials, _most_descriptors() // (2 if front else 1))
    with deployed_behind(
        run,
        front,
        engine=engine,
        has_redis=has_redis,
        limits=run.limits,
        WEB_CONCURRENCY="1",
    ) as (service, place):
        key = issue_key(service.gunicorn.environ)
        with client_at(place, key) as other:
            crowds = Crowds(run, service, place, other)
            crowds.come(size, service.key, stays=True)  # what this keeps is kept once
            workers, memory = service.workers, memory_of(service)
            for key in (service.key, FORGED, ""):
                few = crowds.come(size // FEW, key, stays=True)
                many = crowds.come(size, key, stays=True)
                name = f"rate_with_{NAMES.get(key, 'a key')}"
                run.figures[name] = round(many / few, 2)
                run.require(many >= LEAST_RATE * few, f"{name}: {few:.0f}, {many:.0f}")
                crowds.come(size, key, stays=False)
        require_memory_returns(run, service, memory)
        run.require(service.workers == workers, "a worker was killed")
        run.faults += service.gunicorn.tracebacks()
    run.done = size


def _most_descriptors() -> int:
    """Raise the limit of open files, of proxies too; return what a crowd may use."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most - SPARE_DESCRIPTORS


CROWDS = tuple(
    Campaign(
        f"crowds: {name}{front and f', {front}'}",
        10_000,
        2_000,
        partial(play, engine=engine, front=front, has_redis=has_redis),
    )
    for name, engine, has_redis, front in (
        ("sqlite", "sqlite", False, ""),
        ("postgresql", "postgresql", False, ""),
        ("redis", "postgresql", True, ""),
        ("redis", "postgresql", True, "caddy"),
        ("redis", "postgresql", True, "nginx"),
    )
)
