"""A campaign that breaks Redis under load, without an effect on clients."""

import json
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

from tests.clients import Answer
from tests.clusters import Server, running
from tests.load import Load, load
from tests.servers import free_port
from tests.services import Service, serving
from tests.torture.campaign import Outcome, Run
from tests.torture.databases import migrated_sqlite
from tests.torture.proxies import Proxy, proxy
from tests.torture.pulse import pulse
from tests.torture.waiting import wait_until

CLIENTS = 6
PAUSE_SECONDS = 0.02
WARM_SECONDS = 0.4
AWAY_SECONDS = (0.3, 1.2)
EXACT_WITHIN_SECONDS = 1.0
SETTLED_SECONDS = 2.2  # until the end of an outage has been logged
PATIENCE_SECONDS = 0.25
FLAP_SECONDS = (0.1, 0.3)


class Stage:
    """The Redis server, the network in front of it, and their faults."""

    def __init__(self, server: Server, network: Proxy, run: Run) -> None:
        self._server, self._network, self._dice = server, network, run.dice
        self.faults = [self.kill, self.slow, self.drop, self.hang, self.flap]

    def kill(self) -> None:
        """Kill the server and start it again without its data."""
        self._server.kill()
        self._wait()
        self._server.start()

    def hang(self) -> None:
        """Let the server accept connections without answering."""
        self._server.hang()
        self._wait()
        self._server.go_on()

    def drop(self) -> None:
        """Withhold all traffic."""
        self._network.drop()
        self._wait()
        self._network.restore()

    def slow(self) -> None:
        """Delay answers: first within the time limit, then beyond it, then randomly."""
        for least, most in ((0.08, 0.08), (0.15, 0.4), (0.02, 0.4)):
            self._network.delay = partial(self._dice.uniform, least, most)
            self._wait()
        self._network.restore()

    def flap(self) -> None:
        """Withhold and restore the traffic several times a second."""
        ends = time.monotonic() + self._dice.uniform(1, 2)
        while time.monotonic() < ends:
            self._network.drop()
            time.sleep(self._dice.uniform(*FLAP_SECONDS))
            self._network.restore()
            time.sleep(self._dice.uniform(*FLAP_SECONDS))

    def _wait(self) -> None:
        time.sleep(self._dice.uniform(*AWAY_SECONDS))


def play(run: Run) -> Outcome:
    """Break Redis in each way in turn."""
    outcome = Outcome()
    calm = 0
    with ExitStack() as stack:
        server = stack.enter_context(
            running(Server(free_port(), run.directory / "redis"))
        )
        network = stack.enter_context(proxy(server.port))
        environ = {
            "DATABASE_URL": migrated_sqlite(run.directory),
            "REDIS_URL": f"redis://127.0.0.1:{network.port}/0",
            "WEB_CONCURRENCY": "2",
        }
        service = stack.enter_context(serving(run.directory, environ))
        beats = stack.enter_context(pulse())
        stage = Stage(server, network, run)
        keys = [service.key] * CLIENTS
        with load(service.url, keys, pause_seconds=PAUSE_SECONDS) as everybody:
            for number in range(run.trials):
                # If the machine stalled, the previous outage may end late.
                wait_until(lambda: _is_over(service), "the outage goes on")
                began_at, said = time.monotonic(), len(_said(service))
                fault = stage.faults[number % len(stage.faults)]
                everybody.run(WARM_SECONDS)
                fault()
                back_at = time.monotonic()
                everybody.run(EXACT_WITHIN_SECONDS + SETTLED_SECONDS)
                outcome.trials += 1
                if beats.was_calm(began_at):
                    calm += 1
                    found = _faults(everybody, back_at, _said(service)[said:])
                    found += _late(everybody.since(began_at))
                    outcome.faults += [f"{fault.__name__}: {text}" for text in found]
    statuses = {answer.status for answer in everybody.answers} - {200}
    outcome.faults += [f"status {status}" for status in statuses]
    outcome.figures = {
        "calm": calm,
        "requests": len(everybody.answers),
        "slowest_ms": round(everybody.slowest() * 1000),
    }
    return outcome


def _said(service: Service) -> list[dict[str, Any]]:
    """Return the lines of the log about outages."""
    # Parsing every line would slow down the proxy, which runs in this process.
    with service.gunicorn.log.open("rb") as log:
        return [json.loads(line) for line in log if b'"event":"counters_' in line]


def _is_over(service: Service) -> bool:
    said = _said(service)
    return not said or said[-1]["event"] == "counters_regained"


def _faults(everybody: Load, back_at: float, said: list[dict[str, Any]]) -> list[str]:
    """Return wrong counts, and wrong log lines about an outage."""
    faults = []
    # A short outage is not logged if every hit was answered in time.
    if [line["event"] for line in said] not in (
        [],
        ["counters_lost", "counters_regained"],
    ):
        faults.append(f"{said} in the log")
    answers = everybody.since(back_at + EXACT_WITHIN_SECONDS)
    left = {answer.day_left for answer in answers}
    # Requests sent just before may have been counted in between.
    missing = max(left) - min(left) + 1 - len(left)
    if len(left) < len(answers) or missing > CLIENTS:
        faults.append("not exact again within a second")
    return faults


def _late(answers: list[Answer]) -> list[str]:
    late = [answer for answer in answers if answer.seconds > PATIENCE_SECONDS]
    return [f"{answer.seconds * 1000:.0f} ms" for answer in late]
