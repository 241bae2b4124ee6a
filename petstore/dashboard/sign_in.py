"""/dashboard/sign-in and /dashboard/sign-out."""

from flask import (
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)

from petstore import quotas
from petstore.dashboard import sessions
from petstore.dashboard.forms import EMPTY, Form
from petstore.dashboard.pages import pages_blueprint
from petstore.domains import hosts
from petstore.events import emit
from petstore.models.callers import Caller

WRONG = (
    "is not valid here: it is mistyped, revoked or expired, "
    "or the host is not its project's"
)
FAILED = "Too many sign-ins from your address have failed"
BANNED = "is banned for a while; wait, or sign in with another key"

bp = pages_blueprint("sign_in", __name__, "", is_public=True)


@bp.get("/sign-in")
def sign_in(form: Form = EMPTY) -> str:
    """Ask for a key."""
    return render_template("sign_in.html", form=form)


@bp.post("/sign-in")
def enter() -> Response:
    """Begin a session with a key, unless too many sign-ins have failed."""
    _refuse_guessing()
    key = request.form.get("key", "").strip()
    caller = hosts.unless_foreign(Caller.of(key))
    if caller is None or caller.is_banned:
        return _reject(caller)
    _count(caller)
    sessions.start(caller)
    emit("signed_in", key=caller.prefix)
    return make_response(redirect(url_for("overview.overview"), 303))


@bp.post("/sign-out")
def sign_out() -> Response:
    """End the session, on every worker and host."""
    sessions.end()
    return make_response(redirect(url_for("sign_in.sign_in"), 303))


def _refuse_guessing() -> None:
    limiter = quotas.limiter_of(current_app)
    failed = limiter.peek_failed_sign_ins(request.remote_addr)
    if not failed.tightest.remaining:
        raise sessions.too_many(failed, FAILED)


def _count(caller: Caller) -> None:
    decision = quotas.limiter_of(current_app).take_sign_in(caller)
    if not decision.is_granted:
        raise sessions.too_many(
            decision, "Too many people have signed in to your project"
        )


def _reject(caller: Caller | None) -> Response:
    if caller:
        return _ask_again(BANNED, 403)
    failed = quotas.limiter_of(current_app).take_failed_sign_in(request.remote_addr)
    emit("sign_in_failed", address=request.remote_addr)
    if not failed.is_granted:
        raise sessions.too_many(failed, FAILED)
    return _ask_again(WRONG, 401)


def _ask_again(error: str, status: int) -> Response:
    response = make_response(sign_in(Form(errors={"key": error})), status)
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="petstore"'
    return response
