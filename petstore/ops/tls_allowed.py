"""/internal/tls-allowed: what a proxy with on-demand TLS asks before a certificate."""

from flask import Blueprint, abort, current_app, request

from petstore.domains.hosts import find_host
from petstore.domains.inspection import inspection_of
from petstore.proxies import require_direct_client

bp = Blueprint("tls", __name__, url_prefix="/internal")


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    """Answer 200 for a host that is served, else 404."""
    require_direct_client()
    name = request.args.get("domain", "")
    inspection = inspection_of(current_app)
    if not (inspection and find_host(name, inspection.base_domain)):
        abort(404)
    return {"domain": name}
