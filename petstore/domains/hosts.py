"""Host routing: which project serves a request; needs PETSTORE_BASE_DOMAIN."""

import re
import string
from collections.abc import Iterable
from urllib.parse import quote

from flask import Flask, Response, g, request

from petstore.domains.inspection import Inspection
from petstore.errors import UnknownHost
from petstore.models.hosts import Host
from petstore.settings import Settings

EVERY_PROJECT = Host(project_id=None)

_NAME = re.compile(r"[a-z0-9.-]{1,253}")
_ORIGIN = re.compile(r"^[a-z]+://[^/?]*", re.IGNORECASE)


class PathSet:
    """Paths, some of them with everything below."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._prefixes: tuple[str, ...] = ()

    def add(self, paths: Iterable[str], below: Iterable[str]) -> None:
        """Add single paths, and paths with everything below."""
        self._paths |= {*paths, *below}
        self._prefixes += tuple(f"{path}/" for path in below)

    def __contains__(self, path: str) -> bool:
        return path in self._paths or path.startswith(self._prefixes)


def init_app(app: Flask, settings: Settings) -> None:
    """Check the host of each request, before its key."""
    app.config["BASE_DOMAIN"] = settings.base_domain
    # The ways in add their paths with the two functions below.
    on_every_host = app.extensions["paths_on_every_host"] = PathSet()
    for_host_project = app.extensions["paths_for_host_project"] = PathSet()
    if not (settings.base_domain and settings.tls_address):
        return
    inspection = app.extensions["inspection"] = Inspection(
        settings.base_domain, settings.tls_address, settings.dns_servers
    )

    @app.before_request
    def check_host() -> Response | None:
        if request.path in on_every_host:
            return None
        inspection.check_due()
        host = find_host(_host_name(), settings.base_domain)
        if host:
            g.host_project_id = host.project_id
        if request.path in for_host_project:
            return None
        if host is None:
            raise UnknownHost("No project of this service answers at this host.")
        return _redirect(host.moved_to) if host.moved_to else None


def serve_on_every_host(app: Flask, *paths: str, below: tuple[str, ...] = ()) -> None:
    """Serve paths whatever the host, and even while the database is away."""
    app.extensions["paths_on_every_host"].add(paths, below)


def serve_for_host_project(app: Flask, *, below: str) -> None:
    """Serve paths on every host, but on a project's host for its keys alone."""
    app.extensions["paths_for_host_project"].add((), (below,))


def find_host(name: str, base_domain: str | None) -> Host | None:
    """Return what a host name belongs to; None if it belongs to no project."""
    name = name.lower().removesuffix(".")
    if not base_domain or not _NAME.fullmatch(name):
        return None
    if name == base_domain:
        return EVERY_PROJECT
    slug, _, parent = name.partition(".")
    if parent == base_domain:
        return Host.of_slug(slug)
    return None if parent.endswith(f".{base_domain}") else Host.of_domain(name)


def _host_name() -> str:
    return re.sub(r":[0-9]*$", "", request.host)


def _redirect(host: str) -> Response:
    """Redirect to the same path and query, byte by byte (specification section 1)."""
    raw = _ORIGIN.sub("", request.environ["RAW_URI"], count=1)
    target = quote(raw, safe=string.punctuation, encoding="latin-1")
    port = "".join(request.host.partition(":")[1:])
    # Browsers would store the redirect for longer than the owner wants it.
    return Response(
        status=301,
        headers={
            "Location": f"{request.scheme}://{host}{port}{target}",
            "Cache-Control": "no-store",
        },
    )
