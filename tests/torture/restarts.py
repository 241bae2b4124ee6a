"""The campaigns that replace workers and masters under load: no request fails."""

from collections.abc import Callable

from tests.harness.load import load
from tests.harness.servers import Gunicorn
from tests.harness.services import Service
from tests.torture.campaign import Campaign, Run
from tests.torture.stage import deployed

CLIENTS = 4  # with keep-alive, and as many without
FAREWELL_SECONDS = 0.5
MAX_REQUESTS = "100"

Change = Callable[[Gunicorn], object]


def recycle(gunicorn: Gunicorn) -> None:
    """Wait until each worker has reached its number of requests and been replaced."""
    old = gunicorn.workers
    gunicorn.wait_for_workers(len(old), without=old)


def change_under_load(run: Run, service: Service, change: Change) -> None:
    """Change the processes while clients send requests, which must all be served."""
    keys = [service.key] * CLIENTS
    with (
        load(service.url, keys) as kept,
        load(service.url, keys, keeps_alive=False) as renewed,
    ):
        for _ in run.each_trial():
            renewed.run(run.dice.uniform(0, FAREWELL_SECONDS))
            change(service.gunicorn)
        renewed.run(FAREWELL_SECONDS)
    for clients, kind in ((kept, "kept alive"), (renewed, "one a connection")):
        failed = [answer.status for answer in clients.answers if answer.status != 200]
        run.faults += [f"{kind}: {status or 'no answer'}" for status in failed]
        run.figures[f"requests {kind}"] = len(clients.answers)
        run.figures[f"slowest {kind}"] = round(clients.slowest(), 2)


def campaign(name: str, change: Change, *options: str) -> Campaign:
    """Return the campaign of a change, on a service with these options."""

    def play(run: Run) -> None:
        with deployed(run, *options, limits=run.limits) as service:
            service.gunicorn.wait_for_workers(2)
            change_under_load(run, service, change)

    return Campaign(name, 20, 3, play)


RESTARTS = (
    campaign("reloads", Gunicorn.reload),
    campaign("rolling restarts", Gunicorn.replace),
    campaign("recycled workers", recycle, "--max-requests", MAX_REQUESTS),
)
