"""/internal/tls-allowed: what a proxy with on-demand TLS asks before a certificate."""

from flask import Blueprint, abort, current_app, request

from petstore.domains.hosts import host_of
from petstore.ops.peers import require_direct_peer

bp = Blueprint("tls", __name__, url_prefix="/internal")


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    """200 for a host that is served, so that nobody else's can be asked for."""
    require_direct_peer()
    name = request.args.get("domain", "")
    if host_of(name, current_app.config["BASE_DOMAIN"]) is None:
        abort(404)
    return {"domain": name}
