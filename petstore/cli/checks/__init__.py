"""What an operator should look at, before the service starts and at any time.

`flask check` runs `CHECKS`; gunicorn logs `startup_warnings`.
"""

from collections.abc import Iterable

from petstore.cli.checks.database import check_clock, check_database, check_files
from petstore.cli.checks.network import (
    ListenAddress,
    check_hosts,
    check_listen_addresses,
    check_proxies,
)
from petstore.cli.checks.redis import check_redis, refused_certificate
from petstore.cli.checks.settings import check_settings, check_version
from petstore.settings import Settings, unknown_settings

CHECKS = {
    "version": check_version,
    "settings": check_settings,
    "database": check_database,
    "clock": check_clock,
    "redis": check_redis,
    "files": check_files,
    "proxies": check_proxies,
    "hosts": check_hosts,
}


def startup_warnings(
    settings: Settings, addresses: Iterable[ListenAddress]
) -> list[str]:
    """Return a sentence for each thing that is open to more people than intended.

    The addresses are those that the service is about to listen on. Unknown settings and
    a certificate of Redis that is not accepted are among the warnings, too.
    """
    results = [check_files(settings), check_listen_addresses(settings, addresses)]
    warnings = [message for status, message in results if status != "ok"]
    warnings += unknown_settings()
    if settings.redis_url and (fault := refused_certificate(settings.redis_url)):
        warnings.append(fault)
    return warnings
