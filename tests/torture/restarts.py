"""The campaigns that replace workers and masters under load: no request fails."""

import signal
from collections.abc import Callable
from contextlib import ExitStack

from tests.harness.load import Load, load
from tests.torture.campaign import Campaign, Outcome, Run
from tests.torture.stage import Host, database

CLIENTS = 4  # with keep-alive, and as many without
FAREWELL_SECONDS = 0.5
MAX_REQUESTS = 100


def reload(host: Host) -> None:
    """Send SIGHUP and wait until all workers have been replaced."""
    old = host.workers()
    host.master.send_signal(signal.SIGHUP)
    host.wait_for_workers(without=old)


def recycle(host: Host) -> None:
    """Wait until each worker has reached its number of requests and been replaced."""
    old = host.workers()
    host.wait_for_workers(without=old)


def _under_load(run: Run, change: Callable[[Host], None], *options: str) -> Outcome:
    outcome = Outcome()
    with ExitStack() as stack:
        url = stack.enter_context(database("sqlite", run))
        host = Host(run.directory, {"DATABASE_URL": url}, *options)
        stack.enter_context(host)
        with (
            load(host.url, [host.key] * CLIENTS) as kept,
            load(host.url, [host.key] * CLIENTS, keeps_alive=False) as renewed,
        ):
            for _ in range(run.trials):
                renewed.run(run.dice.uniform(0, FAREWELL_SECONDS))
                change(host)
                outcome.trials += 1
            renewed.run(FAREWELL_SECONDS)
    for clients, kind in ((kept, "kept alive"), (renewed, "one a connection")):
        _judge(outcome, clients, kind)
    return outcome


def _judge(outcome: Outcome, clients: Load, kind: str) -> None:
    failed = [answer.status for answer in clients.answers if answer.status != 200]
    outcome.faults += [f"{kind}: {status or 'no answer'}" for status in failed]
    outcome.figures[f"requests {kind}"] = len(clients.answers)
    outcome.figures[f"slowest {kind}"] = round(clients.slowest(), 2)


RESTARTS = (
    Campaign("reloads", 20, 3, lambda run: _under_load(run, reload)),
    Campaign("rolling restarts", 20, 3, lambda run: _under_load(run, Host.replace)),
    Campaign(
        "recycled workers",
        20,
        3,
        lambda run: _under_load(run, recycle, f"--max-requests {MAX_REQUESTS}"),
    ),
)
