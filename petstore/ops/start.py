"""What an operator is told when the service starts, once for each start."""

from collections.abc import Iterable

from petstore.database import data, is_sqlite
from petstore.engines.files import is_readable_by_others
from petstore.settings import Settings

Place = (
    tuple[str, int] | str | int
)  # a Unix socket has a path, an inherited one a number

EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 (they are looked for, not used)


def warnings(settings: Settings, places: Iterable[Place]) -> list[str]:
    """A sentence for each thing that is open to more people than it should be.

    It looks at the file of the data, which must have been named before, and at the
    places where the service listens.
    """
    found = []
    if is_sqlite(data.obj) and is_readable_by_others(data.database):
        found.append(
            f"{data.database} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {data.database}*"
        )
    if settings.trusted_proxies and any(map(_is_every_address, places)):
        found.append(
            f"PETSTORE_TRUSTED_PROXIES is {settings.trusted_proxies}, and the service "
            "listens on every address: whoever reaches it past the proxy is believed "
            "what it says about addresses. Listen on 127.0.0.1 (gunicorn --bind "
            f"127.0.0.1:{settings.port}), or let a firewall keep others out."
        )
    return found


def _is_every_address(place: Place) -> bool:
    return isinstance(place, tuple) and place[0] in EVERY_ADDRESS
