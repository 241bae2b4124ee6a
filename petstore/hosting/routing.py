"""Host routing: which project serves a request; needs PETSTORE_BASE_DOMAIN.

A TLS proxy asks at /internal/tls-allowed for which hosts it may get a certificate.
"""

import re

from flask import Blueprint, Flask, Response, abort, current_app, request

from petstore.errors import ErrorResponse
from petstore.hosting.names import suffixes
from petstore.hosting.verifier import Verifier, verifier_of
from petstore.models.domains import Host
from petstore.settings import Settings
from petstore.web.application import current_request, is_page_path, quoted_path
from petstore.web.limits import limiter_of
from petstore.web.proxies import require_private_client

bp = Blueprint("tls", __name__, url_prefix="/internal")

EVERY_PROJECT = Host(project_id=None)
# These and everything below them are served without a look-up of the host. They end
# with a slash to be compared with the path of a request and a slash.
ON_EVERY_HOST = (
    "/docs/",
    "/openapi.json/",
    "/healthz/",
    "/readyz/",
    "/metrics/",
    "/internal/",
    "/static/",
    "/favicon.ico/",
    "/dashboard/static/",
)

_NAME = re.compile(r"[a-z0-9.-]{1,253}")


def init_app(app: Flask, settings: Settings) -> None:
    """Let the host of each request select its project, before its key."""
    app.register_blueprint(bp)
    if not (settings.base_domain and settings.tls_address):
        return
    suffixes()  # reads the list now, so that no request waits for it
    verifier = app.extensions["verifier"] = Verifier(
        settings.base_domain,
        settings.tls_address,
        settings.dns_servers,
        limiter_of(app),
    )

    @app.before_request
    def check_host() -> Response | None:
        verifier.recheck_soon()
        if f"{request.path}/".startswith(ON_EVERY_HOST):
            return None
        name = re.sub(r":[0-9]*$", "", request.host)
        host = find_host(name, verifier.base_domain)
        if host is None:
            raise ErrorResponse("unknown_host")
        current_request().state.host_project_id = host.project_id
        # A session is begun, and is valid, at the base domain alone.
        if host.project_id is not None and is_page_path(request.path):
            return _redirect(verifier.base_domain, 303)
        return _redirect(host.moved_to, 301) if host.moved_to else None


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    require_private_client()
    name = request.args.get("domain", "")
    verifier = verifier_of(current_app)
    if not (verifier and find_host(name, verifier.base_domain)):
        abort(404)
    return {"domain": name}


def find_host(name: str, base_domain: str) -> Host | None:
    """Return what a host name belongs to; None if it belongs to no project."""
    name = name.lower().removesuffix(".")
    if not _NAME.fullmatch(name):
        return None
    if name == base_domain:
        return EVERY_PROJECT
    slug, _, parent = name.partition(".")
    if parent == base_domain:
        return Host.of_slug(slug)
    return None if parent.endswith(f".{base_domain}") else Host.of_domain(name)


def _redirect(host: str, status: int) -> Response:
    """Redirect to the same path and query (specification section 1).

    A server may decode the path, and gives it byte by byte (PEP 3333).
    """
    request = current_request()
    names = ("SCRIPT_NAME", "PATH_INFO")
    path = "".join(request.environ.get(name, "") for name in names).encode("latin-1")
    _, colon, port = request.host.partition(":")
    # What a server gives without a slash, like `*`, would go on with the host.
    slash = "" if path.startswith(b"/") else "/"
    origin = f"{request.scheme}://{host}{colon}{port}{slash}"
    location = f"{origin}{quoted_path(path)}{request.quoted_query}"
    return Response(status=status, headers={"Location": location})
