"""A campaign that breaks PostgreSQL under load: quick 503s, and no lost writes."""

import time
from collections import Counter
from contextlib import ExitStack

from tests.clients import PETS, Answer, Client
from tests.load import Load, load
from tests.services import serving
from tests.torture.campaign import Outcome, Run
from tests.torture.postgres import Postgres, postgres
from tests.torture.proxies import Proxy, proxy
from tests.torture.pulse import pulse

CLIENTS = 6
PAUSE_SECONDS = 0.02
WARM_SECONDS = 0.4
AWAY_SECONDS = (0.05, 1.2)
RECOVERED_WITHIN_SECONDS = 1.0
REFUSED_SECONDS = 0.3  # if connecting fails
HUNG_SECONDS = 2.5  # if there is no response


class Stage:
    """The PostgreSQL server, the network in front of it, and their faults."""

    def __init__(self, server: Postgres, network: Proxy, run: Run) -> None:
        self._server, self._network, self._run = server, network, run
        self.faults = [
            (lambda: self._stop("fast"), REFUSED_SECONDS),
            (self._black_hole, HUNG_SECONDS),
            (self._cut, REFUSED_SECONDS),
            (self._hang, HUNG_SECONDS),
            (lambda: self._stop("immediate"), REFUSED_SECONDS),
        ]

    def _stop(self, mode: str) -> None:
        self._server.stop(mode)
        self._wait()
        self._server.start()

    def _cut(self) -> None:
        for _ in range(self._run.dice.randrange(1, 4)):
            self._server.cut()

    def _hang(self) -> None:
        self._server.hang()
        try:
            self._wait()
        finally:
            self._server.go_on()

    def _black_hole(self) -> None:
        self._network.drop()
        self._wait()
        self._network.restore()

    def _wait(self) -> None:
        time.sleep(self._run.dice.uniform(*AWAY_SECONDS))


def play(run: Run) -> Outcome:
    """Stop the server, suspend it, and break its connections, in turn."""
    outcome = Outcome()
    calm, recovery = 0, 0.0
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        network = stack.enter_context(proxy(server.port))
        environ = {"DATABASE_URL": server.url_at(network.port), "WEB_CONCURRENCY": "2"}
        service = stack.enter_context(serving(run.directory, environ))
        beats = stack.enter_context(pulse())
        stage = Stage(server, network, run)
        keys, pause = [service.key] * CLIENTS, PAUSE_SECONDS
        with load(service.url, keys, adds=True, pause_seconds=pause) as everybody:
            for number in range(run.trials):
                began_at = time.monotonic()
                everybody.run(WARM_SECONDS)
                fault, patience_seconds = stage.faults[number % len(stage.faults)]
                fault()
                back_at = time.monotonic()
                everybody.run(RECOVERED_WITHIN_SECONDS + WARM_SECONDS)
                outcome.trials += 1
                if beats.was_calm(began_at):
                    calm += 1
                    recovery = max(recovery, _recovery(everybody, back_at))
                    outcome.faults += _late(everybody.since(began_at), patience_seconds)
        with Client(service.url, service.key) as client:
            names = [pet["name"] for pet in client.all_of(PETS)]
        _count(outcome, everybody, names)
        if "Traceback" in service.gunicorn.log.read_text():
            outcome.faults.append("a traceback in the log")
    if recovery > RECOVERED_WITHIN_SECONDS:
        outcome.faults.append(f"not back after {recovery:.2f} s")
    outcome.faults += _wrong(everybody.answers)
    outcome.figures = {
        "calm": calm,
        "requests": len(everybody.answers),
        "503s": sum(answer.status == 503 for answer in everybody.answers),
        "slowest_ms": round(everybody.slowest() * 1000),
        "back_after_ms": round(recovery * 1000),
    }
    return outcome


def _recovery(everybody: Load, back_at: float) -> float:
    """Return the seconds from the server's return to the last refused request."""
    answers = everybody.since(back_at)
    return max([0, *(a.sent_at - back_at for a in answers if a.status == 503)])


def _late(answers: list[Answer], patience_seconds: float) -> list[str]:
    late = [answer for answer in answers if answer.seconds > patience_seconds]
    return [f"{a.status} after {a.seconds * 1000:.0f} ms" for a in late]


def _wrong(answers: list[Answer]) -> list[str]:
    return [
        f"status {answer.status}"
        for answer in answers
        if answer.status not in (200, 201)
        and not (answer.status == 503 and answer.headers["Retry-After"])
    ]


def _count(outcome: Outcome, everybody: Load, names: list[str]) -> None:
    kept = Counter(names)
    outcome.lost = sum(not kept[name] for name in everybody.added)
    outcome.duplicated = sum(times - 1 for times in kept.values())
