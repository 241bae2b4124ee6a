"""What an operator is told when the service starts, once for each start."""

from collections.abc import Iterable

from petstore.checks import files, proxies
from petstore.checks.proxies import Place
from petstore.checks.redis import refused_certificate
from petstore.settings import Settings


def warnings(settings: Settings, places: Iterable[Place]) -> list[str]:
    """A sentence for each thing that is open to more people than it should be.

    It looks at the file of the data, which must have been named before, and at the
    places where the service listens. A Redis whose certificate is refused is told, too.
    """
    open_things = [files.check(settings), proxies.check_places(settings, places)]
    found = [finding.message for finding in open_things if finding.status != "ok"]
    if settings.redis_url and (fault := refused_certificate(settings.redis_url)):
        found.append(fault)
    return found
