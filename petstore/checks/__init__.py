"""What an operator would look at before users meet it."""

from petstore.checks import (
    clock,
    database,
    files,
    hosts,
    proxies,
    redis,
    understood,
    version,
)
from petstore.checks.findings import Finding
from petstore.settings import Settings

__all__ = ["Finding", "findings"]


def findings(settings: Settings) -> list[Finding]:
    """One finding for each thing; the settings' databases must be open."""
    parts = (version, understood, database, clock, redis, files, proxies, hosts)
    return [part.check(settings) for part in parts]
