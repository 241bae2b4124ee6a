"""How many requests of one caller run at once, so that nobody stops another.

A caller is an address (of IPv6 its /64) until the key of a request is known to be
right, and then that key. In each worker a few requests of a caller run, some hundreds
wait for their turn, and one more is refused before it is counted.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse

import orjson
from flask import Flask
from werkzeug.wrappers import Response

from petstore import clock, timeouts
from petstore.concurrency import original
from petstore.errors import RETRY_AFTER_A_SECOND, ErrorResponse
from petstore.quotas.limiter import address_subjects
from petstore.storage import db
from petstore.web.application import (
    NO_STORE,
    NOSNIFF,
    REQUEST_ID,
    Header,
    current_request,
    is_api_path,
    request_id_of,
)

OWN_TURNS = "petstore.turns"  # of a request, in its environ
JSON = "application/json"
REFUSED = "Too many requests are under way"

Environ = dict[str, Any]
Name = str | int | tuple[str, int]  # of an address, of a key, or of what runs alone


class Turns:
    """The turns of all callers of a worker, which may serve in greenlets or threads."""

    def __init__(self) -> None:
        # The API sets the first, for the headers of its refusals; the metrics set the
        # second, to count them.
        self.headers: Callable[[Environ], list[Header]] = lambda _environ: []
        self.on_refusal: Callable[[], None] = lambda: None
        self.outside: set[str] = set()  # paths that tell how the worker is
        # A lock of the system is enough: it is held for a moment, never during a wait.
        self._lock = original("_thread", "allocate_lock")()
        self._running: dict[Name, int] = {}
        self._all_running = 0
        self._waiting: dict[Name, deque[threading.Event]] = {}

    def acquire(self, name: Name, until: float) -> bool:
        """Wait for a turn until a moment; return False if none has come.

        Only a few requests of a name run at once; the others wait in their order. While
        many run in all, a name with few of them still gets turns.
        """
        with self._lock:
            waiting = self._waiting.get(name, ())
            if not waiting and self._has_room(name):
                self._begin(name)
                return True
            if len(waiting) >= timeouts.LIMITS.waiting_requests:
                return False
            turn = threading.Event()
            self._waiting.setdefault(name, deque()).append(turn)
        has_come = False
        try:
            db.close()  # others may use the connection meanwhile
            has_come = turn.wait(until - clock.monotonic())
        finally:  # a greenlet may be ended while it waits
            if not has_come:
                with self._lock:
                    if not self._stop_waiting(name, turn):
                        self._end(name)
        return has_come

    def release(self, name: Name) -> None:
        """End a turn, and give it to a name that waits and has the fewest turns."""
        with self._lock:
            self._end(name)

    def refuse(self, error: ErrorResponse, environ: Environ) -> Response:
        """Return a 503 without Flask: a refusal must cost much less than an answer."""
        self.on_refusal()
        members = {"code": error.code, "message": str(error), "status": 503}
        headers = [(REQUEST_ID, request_id_of(environ)), NOSNIFF, NO_STORE]
        headers += RETRY_AFTER_A_SECOND.items()
        if is_api_path(environ.get("PATH_INFO", "")):
            headers += self.headers(environ)
        return Response(orjson.dumps(members), 503, headers, mimetype=JSON)

    def _is_crowded(self) -> bool:
        return self._all_running >= timeouts.LIMITS.crowded_requests

    def _has_room(self, name: Name) -> bool:
        limits = timeouts.LIMITS
        few = limits.few_requests if self._is_crowded() else limits.running_requests
        most = few if isinstance(name, int | str) else 1
        return self._running.get(name, 0) < most

    def _begin(self, name: Name) -> None:
        self._running[name] = self._running.get(name, 0) + 1
        self._all_running += 1

    def _end(self, name: Name) -> None:
        self._all_running -= 1
        running = self._running.pop(name)
        if running > 1:
            self._running[name] = running - 1
        while self._waiting and (fitting := self._fitting(name)):
            first = min(fitting, key=lambda each: self._running.get(each, 0))
            turn = self._waiting[first][0]
            self._stop_waiting(first, turn)
            self._begin(first)
            turn.set()

    def _fitting(self, name: Name) -> list[Name]:
        """Return the names that may have one more turn, after one of `name` has ended.

        In a crowd it is this name or none, since no other one has more room now.
        """
        names = {name} & self._waiting.keys() if self._is_crowded() else self._waiting
        return list(filter(self._has_room, names))

    def _stop_waiting(self, name: Name, turn: threading.Event) -> bool:
        """Take back a wait for a turn; return False if the turn has come already."""
        waiting = self._waiting.get(name, deque())
        if turn not in waiting:
            return False
        waiting.remove(turn)
        if not waiting:
            del self._waiting[name]
        return True


class RequestTurns:
    """The turns of a request: of its address, and then of its key."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.until = clock.monotonic() + timeouts.LIMITS.turn_seconds
        self._names: list[Name] = []

    def acquire(self, name: Name) -> None:
        """Wait for a turn; raises a 503."""
        if not self._turns.acquire(name, self.until):
            raise ErrorResponse("service_unavailable", REFUSED)
        self._names.append(name)

    def acquire_instead(self, name: Name) -> None:
        """Wait for a turn in place of those before; raises a 503."""
        if name not in self._names:
            self.release()
            self.acquire(name)

    def release(self) -> None:
        while self._names:
            self._turns.release(self._names.pop())


def init_app(app: Flask) -> None:
    """Give each request a turn of its address, or refuse it."""
    application, turns = app.wsgi_app, Turns()
    app.extensions["turns"] = turns

    def respond(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") in turns.outside:
            return application(environ, start_response)
        own = environ[OWN_TURNS] = RequestTurns(turns)
        try:
            own.acquire(network_of(environ.get("REMOTE_ADDR", "")))
        except ErrorResponse as error:
            return turns.refuse(error, environ)(environ, start_response)
        # Let others that have arrived get their turns. On SQLite no request waits, so a
        # whole crowd would be served before the loop looks at what has arrived.
        time.sleep(0)
        try:
            return application(environ, start_response)
        finally:  # what streams the rest of a response needs no turn
            own.release()

    # Flask's documentation adds a middleware like this; mypy sees a method.
    app.wsgi_app = respond  # type: ignore[method-assign]


def turns_of(app: Flask) -> Turns:
    turns: Turns = app.extensions["turns"]
    return turns


def acquire_turn_of(key_id: int) -> None:
    """Wait for a turn of the key, which is known to be right; raises a 503."""
    own_turns().acquire_instead(key_id)


def own_turns() -> RequestTurns:
    """Return the turns of the current request."""
    own: RequestTurns = current_request().environ[OWN_TURNS]
    return own


def network_of(address: str) -> str:
    """Return the name of the caller at an address: of IPv6 its /64."""
    return address_subjects("", address)[0] if ":" in address else address
