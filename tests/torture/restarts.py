"""The campaigns that replace workers and masters under load: no request fails."""

from tests.harness.campaign import Campaign, Run
from tests.harness.load import Change, change_under_load
from tests.harness.servers import Gunicorn
from tests.harness.stage import deployed

MAX_REQUESTS = "100"


def recycle(gunicorn: Gunicorn) -> None:
    """Wait until each worker has reached its number of requests and been replaced."""
    old = gunicorn.workers
    gunicorn.wait_for_workers(len(old), without=old)


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
