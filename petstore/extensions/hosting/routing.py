"""Host routing: the host of a request selects its project.

PETSTORE_BASE_DOMAIN switches it on. A TLS proxy asks /internal/tls-allowed whether it
may obtain a certificate for a host.
"""

import re
import string
from urllib.parse import quote

from flask import Blueprint, Flask, Response, abort, current_app, request
from limits import RateLimitItemPerDay

from petstore.errors import ErrorResponse
from petstore.extensions.hosting.models import Host
from petstore.extensions.hosting.names import suffixes
from petstore.extensions.hosting.verifier import Verifier, verifier_of
from petstore.settings import Settings
from petstore.web.application import (
    TRANSPORT_SECURITY,
    current_request,
    serve_on_every_host,
)
from petstore.web.limiter import limiter_of
from petstore.web.proxies import require_private_client

bp = Blueprint("tls", __name__, url_prefix="/internal")

PATH_CHARACTERS = "/:@!$&'()*+,;=~"  # and letters, digits, - . _ (RFC 3986, 3.3)
EVERY_PROJECT = Host(project_id=None)
_NAME = re.compile(r"[a-z0-9.-]{1,253}")


def init_app(app: Flask, settings: Settings) -> None:
    """Let the host of each request select its project, before its key."""
    app.register_blueprint(bp)
    serve_on_every_host(app, "/internal")
    if not (settings.base_domain and settings.tls_address):
        return
    app.config["BASE_DOMAIN"] = settings.base_domain
    suffixes()  # loads the list, so that no request waits for it
    verifier = app.extensions["verifier"] = Verifier(
        settings.base_domain,
        settings.tls_address,
        settings.dns_servers,
        limiter_of(app),
        RateLimitItemPerDay(settings.new_domains_per_day),
    )

    on_every_host: list[str] = app.extensions["paths_on_every_host"]

    @app.before_request
    def check_host() -> Response | None:
        verifier.recheck_soon()
        path = f"{request.path}/"
        if path.startswith(tuple(on_every_host)):
            return None
        host = find_host(_name_of(request.host), verifier.base_domain)
        if host is None:
            raise ErrorResponse("unknown_host")
        state = current_request().state
        state.host_project_id = host.project_id
        if host.is_suspended:
            if not state.is_api:  # whose requests are counted before they are refused
                raise ErrorResponse("project_suspended")
            state.is_host_suspended = True
            return None
        at_base_domain = app.extensions.get("paths_at_base_domain", ())
        if host.project_id is not None and path.startswith(at_base_domain):
            return _redirect(verifier.base_domain, 303)
        return _redirect(host.moved_to, 301) if host.moved_to else None

    @app.after_request
    def leave_scheme_to_owners(response: Response) -> Response:
        """Let a domain that is not the operator's be served without TLS again."""
        headers, name = current_request().state.headers, _name_of(request.host)
        if not f".{name}".endswith(f".{verifier.base_domain}"):
            headers[:] = [each for each in headers if each != TRANSPORT_SECURITY]
        return response


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    require_private_client()
    name = request.args.get("domain", "")
    verifier = verifier_of(current_app)
    host = find_host(name, verifier.base_domain) if verifier else None
    if host is None or host.is_suspended:
        abort(404)
    return {"domain": name}


def find_host(name: str, base_domain: str) -> Host | None:
    """Return what is served at a host name; None if nothing is."""
    name = name.lower().removesuffix(".")
    if not _NAME.fullmatch(name):
        return None
    if name == base_domain:
        return EVERY_PROJECT
    slug, _, parent = name.partition(".")
    if parent == base_domain:
        return Host.find_by_slug(slug)
    return None if parent.endswith(f".{base_domain}") else Host.find_by_domain(name)


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port."""
    return re.sub(r":[0-9]*$", "", host).lower().removesuffix(".")


def _redirect(host: str, status: int) -> Response:
    """Redirect to the same path and query at another host.

    In the WSGI environ, each byte of the decoded path is a character (PEP 3333).
    """
    request = current_request()
    names = ("SCRIPT_NAME", "PATH_INFO")
    path = "".join(request.environ.get(name, "") for name in names).encode("latin-1")
    _, colon, port = request.host.partition(":")
    # Without a slash, a path such as `*` would become a part of the host.
    slash = "" if path.startswith(b"/") else "/"
    origin = f"{request.scheme}://{host}{colon}{port}{slash}"
    query = quote(request.query_string, safe=string.punctuation)
    location = origin + quote(path, safe=PATH_CHARACTERS) + (query and f"?{query}")
    return Response(status=status, headers={"Location": location})
