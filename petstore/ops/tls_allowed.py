"""/internal/tls-allowed: what a proxy with on-demand TLS asks before a certificate."""

from flask import Blueprint, abort, current_app, request

from petstore.domains.hosts import find_host
from petstore.proxies import require_direct_client

bp = Blueprint("tls", __name__, url_prefix="/internal")


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    """Answer 200 for a host that is served, else 404."""
    require_direct_client()
    name = request.args.get("domain", "")
    if find_host(name, current_app.config["BASE_DOMAIN"]) is None:
        abort(404)
    return {"domain": name}
