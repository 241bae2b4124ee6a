"""Which project answers at the host of a request; needs PETSTORE_BASE_DOMAIN."""

import re
import string
from urllib.parse import quote

from flask import Flask, Response, g, request

from petstore.domains.inspection import Inspection
from petstore.errors import UnknownHost
from petstore.models.hosts import Host
from petstore.settings import Settings

# What is served on every host, and belongs to no project.
EVERYWHERE = re.compile(
    r"/(docs|internal)(/.*)?|/(healthz|metrics|openapi\.json|readyz)?", re.DOTALL
)
# Served on every host too, but on a project's host to the holders of its keys alone.
PAGES = re.compile(r"/dashboard(/.*)?", re.DOTALL)
EVERY_PROJECT = Host(project_id=None)

_NAME = re.compile(r"[a-z0-9.-]{1,253}")
_ORIGIN = re.compile(r"^[a-z]+://[^/?]*", re.IGNORECASE)


def init_app(app: Flask, settings: Settings) -> None:
    """Look at the host of each request, before anybody asks for its key."""
    app.config["BASE_DOMAIN"] = settings.base_domain
    if not settings.base_domain:
        return
    inspection = app.extensions["inspection"] = Inspection(settings)

    @app.before_request
    def route() -> Response | None:
        if EVERYWHERE.fullmatch(request.path):
            return None
        inspection.pass_by()
        host = host_of(_host_name(), settings.base_domain)
        if host:
            g.host_project_id = host.project_id
        if PAGES.fullmatch(request.path):
            return None
        if host is None:
            raise UnknownHost("No project of this service answers at this host.")
        return _redirect(host.moved_to) if host.moved_to else None


def host_of(name: str, base_domain: str | None) -> Host | None:
    """Whom a host name stands for; None for nobody."""
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
    """301 (specification section 1) to the same path and query, byte by byte."""
    raw = _ORIGIN.sub("", request.environ["RAW_URI"], count=1)
    target = quote(raw, safe=string.punctuation, encoding="latin-1")
    port = "".join(request.host.partition(":")[1:])
    # A browser would remember it longer than the owner means it.
    return Response(
        status=301,
        headers={
            "Location": f"{request.scheme}://{host}{port}{target}",
            "Cache-Control": "no-store",
        },
    )
