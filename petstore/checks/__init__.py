"""What an operator should look at, before the service starts and at any time.

`flask check` prints `run_checks`; gunicorn logs `startup_warnings`.
"""

from collections.abc import Iterable

from petstore.checks.database import check_clock, check_database, check_files
from petstore.checks.network import (
    ListenAddress,
    check_hosts,
    check_listen_addresses,
    check_proxies,
)
from petstore.checks.redis import check_redis, refused_certificate
from petstore.checks.results import CheckResult
from petstore.checks.settings import check_settings, check_version
from petstore.settings import Settings

CHECKS = (
    check_version,
    check_settings,
    check_database,
    check_clock,
    check_redis,
    check_files,
    check_proxies,
    check_hosts,
)


def run_checks(settings: Settings) -> list[CheckResult]:
    """Return one result for each check; the settings' databases must be open."""
    return [check(settings) for check in CHECKS]


def startup_warnings(
    settings: Settings, addresses: Iterable[ListenAddress]
) -> list[str]:
    """Return a sentence for each thing that is open to more people than intended.

    The addresses are those that the service is about to listen on. A certificate of
    Redis that is not accepted is among the warnings, too.
    """
    results = [check_files(settings), check_listen_addresses(settings, addresses)]
    warnings = [result.message for result in results if result.status != "ok"]
    if settings.redis_url and (fault := refused_certificate(settings.redis_url)):
        warnings.append(fault)
    return warnings
