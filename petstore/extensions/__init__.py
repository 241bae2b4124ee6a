"""What the service offers beside its core; each may be switched off, or deleted.

An extension is a package, whose `init_app` sets it up. The core imports none of them:
it has their names from here, and PETSTORE_EXTENSIONS chooses.
"""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

DASHBOARD = "dashboard"


class Extension(NamedTuple):
    """The modules of an extension that are imported beside its package, if needed."""

    commands: tuple[str, ...] = ()  # the commands in `commands`
    checks: tuple[str, ...] = ()  # of `flask check`, in `checks`
    has_pages: bool = False  # in `pages`, which need the dashboard
    has_gunicorn_hooks: bool = False  # in `gunicorn_hooks`, which the master imports


# In the order in which they are set up.
EXTENSIONS: dict[str, Extension] = {
    DASHBOARD: Extension(),
    "monitoring": Extension(
        ("requests", "usage"), ("metrics",), has_pages=True, has_gunicorn_hooks=True
    ),
    "hosting": Extension(("domains",), ("proxies", "hosts"), has_pages=True),
    "sheets": Extension(("animals",), has_pages=True),
    "activity": Extension(("activity",), has_pages=True),
    "openapi": Extension(),
    "operations": Extension(("check", "data")),
}


def imported(names: tuple[str, ...]) -> Iterator[ModuleType]:
    """Import extensions, each with its pages if the dashboard is among them."""
    for name in names:
        yield import_module(f"{__name__}.{name}")
        if EXTENSIONS[name].has_pages and DASHBOARD in names:
            yield import_module(f"{__name__}.{name}.pages")
