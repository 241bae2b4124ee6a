"""The campaigns of strangers who send much, beside one client."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from tests.harness import servers
from tests.harness.campaign import Bound, Campaign, Run
from tests.harness.services import Service
from tests.harness.stage import cpu_seconds, memory_of, require_memory_returns
from tests.torture.fronts import FRONTS, client_at, deployed_behind
from tests.torture.strangers import Place

LEAST_ROUNDS = 3
ROUND_SECONDS = 12  # so longer campaigns have more rounds
WARM_UP_SECONDS = 3
PAUSE_SECONDS = 0.005
FLOOD_BOUND = Bound(times=3.0, noise_ms=20.0)
# In CPU of the workers, which does not depend on how busy the machine is.
MOST_READS_PER_MB = 100


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


def play(run: Run, engine: str, front: str) -> None:
    """Measure the honest client, time and memory, without and with the strangers."""
    has_redis, limits = engine == "postgresql", run.limits
    with deployed_behind(
        run, front, engine=engine, has_redis=has_redis, limits=limits
    ) as (service, place):
        with strangers(place, run.dice.random()):
            _read(run, place, service.key, WARM_UP_SECONDS)
        workers, memory = service.workers, memory_of(service)
        _flood(run, service, place)
        require_memory_returns(run, service, memory)
        run.require(set(service.workers) == set(workers), "a worker was killed")
        run.faults += service.gunicorn.tracebacks()
    run.done = run.trials


def _flood(run: Run, service: Service, place: Place) -> None:
    """Compare rounds without and with the strangers: p99, and CPU of the workers."""
    rounds = max(LEAST_ROUNDS, run.trials // ROUND_SECONDS)
    reads, cpu, sent = Counter[bool](), Counter[bool](), []

    def read(is_flooded: bool) -> list[float]:
        cpu[is_flooded] -= cpu_seconds(service)
        flood = strangers(place, run.dice.random()) if is_flooded else nullcontext([0])
        with flood as sent_bytes:
            times = _read(run, place, service.key, run.trials / rounds)
        sent.extend(sent_bytes)
        cpu[is_flooded] += cpu_seconds(service)
        reads[is_flooded] += len(times)
        return times

    run.compare(rounds, read, FLOOD_BOUND)
    assert sum(sent), "the strangers sent nothing"
    a_read, sent_mb = cpu[False] / reads[False], sum(sent) / 1e6
    reads_per_mb = (cpu[True] / a_read - reads[True]) / sent_mb
    is_cheap = reads_per_mb <= run.limit(MOST_READS_PER_MB)
    run.require(is_cheap, f"a MB costs as much as {reads_per_mb:.0f} reads")
    run.figures["sent_mb"] = round(sent_mb, 1)
    run.figures["reads_per_mb"] = round(reads_per_mb)


def _read(run: Run, place: Place, key: str, seconds: float) -> list[float]:
    """Return the response times of an honest client, in seconds."""
    times, until = [], time.monotonic() + seconds
    with client_at(place, key) as own:
        while time.monotonic() < until:
            answer = own.get("/v1/pets?limit=1")
            times.append(answer.seconds)
            run.require(answer.is_served, f"the honest client got {answer.status}")
            time.sleep(PAUSE_SECONDS)
    return times


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
