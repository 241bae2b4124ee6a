"""The file of an import, which may be larger and arrive slower than other bodies."""

from flask import current_app
from limits import RateLimitItemPerDay

from petstore import clock, timeouts
from petstore.errors import BODY_SECONDS, MAX_BODY_BYTES
from petstore.extensions import dashboard
from petstore.quotas.limiter import windows
from petstore.storage import close_connections, deadline
from petstore.web.application import current_request
from petstore.web.limiter import limiter_of
from petstore.web.turns import own_turns

UPLOAD, ANSWER = "sheets.upload", "sheets.answer"
MAX_FIELDS = 64  # of the page about a file
LARGE_FILES = RateLimitItemPerDay(50)  # of one project, above 64 KiB


def receive_file() -> None:
    """Receive a form with a large file, if the project has not sent too many today.

    It is read without turns and connections, since the client may be slow. Afterwards
    the request has no turn, and may wait for the stores like a new one. Raises 429, or
    503 if another long computation runs for the project.
    """
    request, turns = current_request(), own_turns()
    if request.endpoint == ANSWER:
        request.max_form_parts = MAX_FIELDS
    most = timeouts.LIMITS.import_bytes + MAX_BODY_BYTES  # with the other fields
    is_large = MAX_BODY_BYTES < (request.content_length or 0) <= most
    if not is_large or request.endpoint != UPLOAD:
        return
    _count(project_id := dashboard.current_project().id)
    request.max_body_bytes = most
    request.environ[BODY_SECONDS] = timeouts.LIMITS.upload_seconds
    turns.release()
    close_connections()
    try:
        request.stream  # noqa: B018 (it is a cached property)
    finally:
        deadline.set(clock.monotonic() + timeouts.LIMITS.stores_seconds)
        # A request that took long to send waits longer before it is refused.
        turns.until = clock.monotonic() + timeouts.LIMITS.send_seconds
    dashboard.acquire_exclusively(project_id)


def _count(project_id: int) -> None:
    of_project = windows(f"long-forms:{project_id}", [LARGE_FILES])
    decision = limiter_of(current_app).strategy.hit_all(of_project)
    sent = f"{LARGE_FILES.amount} files above {MAX_BODY_BYTES // 1024} KiB"
    dashboard.require_granted(decision, f"Your project has sent {sent} today")
