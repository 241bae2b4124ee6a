"""How many requests a client may send, and how many it has sent.

A quota is two fixed windows, a UTC minute and a UTC day, that hold at the same time.
The limits library provides the windows as `RateLimitItem`s: every store compares its
counts with their amounts, and their lengths give the reset times and the headers. The
strategies and storages of limits are not used, for three reasons: its fixed windows
begin with the first hit, not with the UTC minute; its strategies hit one item after the
other, so a request that the day refuses has already spent the minute; and its storages
count first and compare afterwards, so refused requests are counted like served ones.
Here a refused request spends nothing and counts towards a ban. Each store therefore
hits both windows in one atomic step, by its own clock.
"""

from typing import Any, Protocol

from petstore.quotas.limiter import Limiter
from petstore.settings import Settings

EXTENSION = "limiter"


class Application(Protocol):
    """A Flask application; nothing else of Flask is known here."""

    extensions: dict[str, Any]


def init_app(app: Application, settings: Settings) -> None:
    """Make the limiter of the application; it connects when it is first used."""
    app.extensions[EXTENSION] = Limiter(settings)


def limiter_of(app: Application) -> Limiter:
    """Return the limiter of the application."""
    limiter: Limiter = app.extensions[EXTENSION]
    return limiter
