"""/internal/tls-allowed: whether a TLS proxy may get a certificate for a host."""

from flask import Blueprint, abort, current_app, request

from petstore.hosting.host_routing import find_host
from petstore.hosting.verifier import verifier_of
from petstore.web.proxies import require_direct_client

bp = Blueprint("tls", __name__, url_prefix="/internal")


@bp.get("/tls-allowed")
def tls_allowed() -> dict[str, str]:
    """Answer 200 for a host that is served, else 404."""
    require_direct_client()
    name = request.args.get("domain", "")
    verifier = verifier_of(current_app)
    if not (verifier and find_host(name, verifier.base_domain)):
        abort(404)
    return {"domain": name}
