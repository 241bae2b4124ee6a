"""Which release of the service this is."""

from petstore import version
from petstore.checks.findings import Finding
from petstore.settings import Settings

CHECK = "version"


def check(_settings: Settings) -> Finding:
    """The release, and the version of the interface that it serves."""
    return Finding.ok(
        CHECK,
        f"Pet Store Service {version.SERVICE}, with the interface {version.INTERFACE}",
    )
