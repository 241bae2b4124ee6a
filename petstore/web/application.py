"""The application: Flask with ids in paths, bounded requests, and headers of answers.

Responses are sent with the headers in the state of the request.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from io import BytesIO
from typing import IO, Any, Self
from urllib.parse import parse_qsl
from wsgiref.types import StartResponse

import orjson
from flask import (
    Flask,
    Request,
    Response,
    appcontext_tearing_down,
    request,
    request_tearing_down,
)
from flask.ctx import RequestContext
from flask.sessions import NullSession
from werkzeug.datastructures import Headers, MultiDict
from werkzeug.exceptions import ClientDisconnected, NotFound, RequestEntityTooLarge
from werkzeug.routing import BaseConverter, MapAdapter
from werkzeug.utils import cached_property
from werkzeug.wsgi import get_content_length, get_input_stream

from petstore import clock, randomness, timeouts
from petstore.errors import MAX_BODY_BYTES, NO_HEADERS, UNREADABLE, InvalidRequest
from petstore.models.callers import Caller
from petstore.models.credentials import contains_key
from petstore.quotas.strategy import Decision
from petstore.schemas.fields import INT64_MAX, INTEGER_PATTERN
from petstore.storage import NEVER, close_connections, deadline

API_PREFIX = "/v1"
NO_SESSION = NullSession()
MAX_PARAMETERS = 20  # of a query
INCOMPLETE = "It has not arrived as a whole in time. Please send it again."
NO_PATH = "/."  # no route has it
Header = tuple[str, str]
# For responses that set nothing else: without it, a cache would choose how long to keep
# a page or a 404 (RFC 9111 section 4.2.2).
NO_STORE = ("Cache-Control", "no-store")
REQUEST_ID = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# Browsers must not take a response for anything but its Content-Type.
NOSNIFF = ("X-Content-Type-Options", "nosniff")
# For a year; subdomains are not included, because they may be other projects' hosts.
TRANSPORT_SECURITY = ("Strict-Transport-Security", "max-age=31536000")
# With these, other sites cannot hold the window of a page, embed parts of it, or learn
# its address. With `no-referrer`, browsers would send forms with `Origin: null`.
PAGE_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}


@dataclass(slots=True)
class RequestState:
    """The state of one request, as `current_request().state`.

    `_begin` makes it before any other hook runs. What is known only later has a
    default, or cannot be read before it is set.
    """

    request_id: str
    started: float  # by `clock.monotonic`
    headers: list[Header]  # of its response
    is_api: bool  # whether its path belongs to the API, known or not
    host_project_id: int | None = None  # None: the host serves every project
    is_host_suspended: bool = False  # with the project of the host
    caller: Caller | None = None  # None: no valid key, or nobody has signed in
    project_id: int = field(init=False)  # of an operation that a key may carry out
    decision: Decision | None = None  # None: the request was not counted
    error_code: str | None = None

    @property
    def required_caller(self) -> Caller:
        """The caller, for what runs only after a hook has refused everybody else."""
        if self.caller is None:
            raise LookupError("This request needs no key.")
        return self.caller


class ApplicationRequest(Request):
    """A request with a body of at most MAX_BODY_BYTES, and few parameters."""

    max_body_bytes = MAX_BODY_BYTES  # a hook may allow more
    state: RequestState

    @cached_property
    def parameters(self) -> list[tuple[str, str]]:
        """The parameters of the query; raises `InvalidRequest` if it is not sound."""
        if self.query_string.count(b"&") >= MAX_PARAMETERS:
            raise InvalidRequest(
                f"query: must have at most {MAX_PARAMETERS} parameters"
            )
        try:
            query = self.query_string.decode()
            return parse_qsl(query, keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            raise InvalidRequest("query: must be UTF-8") from None

    @cached_property
    def args(self) -> MultiDict[str, str]:
        """The parameters as Flask has them, which take longer to make."""
        return MultiDict(self.parameters)

    @cached_property
    def stream(self) -> IO[bytes]:
        """The body; raises `RequestEntityTooLarge` or `ClientDisconnected`.

        Werkzeug's own limit truncates a chunked body instead of refusing it, and its
        stream takes several Python calls for each read.
        """
        length = get_content_length(self.environ)
        if length is not None and length > self.max_body_bytes:
            raise RequestEntityTooLarge
        try:
            if length is None:
                body = get_input_stream(self.environ).read(MAX_BODY_BYTES + 1)
            else:
                body = self.environ["wsgi.input"].read(length)
        except Exception:  # noqa: BLE001 (each server has its own for a broken body)
            raise ClientDisconnected(INCOMPLETE) from None
        if length is None and len(body) > MAX_BODY_BYTES:
            raise RequestEntityTooLarge
        if length is not None and len(body) < length:
            raise ClientDisconnected(INCOMPLETE)
        return BytesIO(body)


# The request itself. Flask's proxy, which it declares as the object that it stands for,
# costs a quarter of a request.
current_request: Callable[[], ApplicationRequest] = request._get_current_object  # type: ignore[attr-defined]


class ApplicationResponse(Response):
    """A Flask response that is sent with the headers that hooks have added."""

    def get_wsgi_response(
        self, environ: dict[str, object]
    ) -> tuple[Iterable[bytes], str, list[Header]]:
        body, status, headers = super().get_wsgi_response(environ)
        headers += current_request().state.headers
        if NO_STORE[0] not in self.headers:
            headers.append(NO_STORE)
        return body, status, headers


def no_content() -> Response:
    """Return a 204, which has neither a body nor a type of it."""
    response = ApplicationResponse(status=204)
    del response.headers["Content-Type"]
    return response


class JsonResponse(ApplicationResponse):
    """A response with a complete JSON body, which Werkzeug need not correct."""

    def __init__(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        sent = Headers()  # to which it is cheaper to add than to give it a dict
        sent.add("Content-Type", "application/json")
        sent.add("Content-Length", str(len(body)))
        for name, value in headers.items():
            sent.add(name, value)
        super().__init__([body], status, sent)
        self.body = body

    @classmethod
    def of(
        cls, value: Any, status: int = 200, headers: Mapping[str, str] = NO_HEADERS
    ) -> Self:
        """Return the response with a value as JSON."""
        try:
            body = orjson.dumps(value, _number)
        except TypeError:  # with this option, all names take longer
            body = orjson.dumps(value, _number, orjson.OPT_NON_STR_KEYS)
        return cls(body, status, headers)

    def get_wsgi_response(
        self, environ: dict[str, object]
    ) -> tuple[Iterable[bytes], str, list[Header]]:
        """Return body, status and headers without Werkzeug's corrections."""
        headers = [
            *self.headers.to_wsgi_list(),
            NO_STORE,
            *current_request().state.headers,
        ]
        body = () if environ["REQUEST_METHOD"] == "HEAD" else (self.body,)
        return body, self.status, headers


def _number(value: Any) -> orjson.Fragment:
    """Return a Decimal as a number of JSON: marshmallow has a field for them."""
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError


class Application(Flask):
    """A Flask application whose routes depend on the path alone."""

    request_class = ApplicationRequest
    response_class = ApplicationResponse
    # Flask asks for each request whether a view is a coroutine. This asks once.
    ensure_sync = lru_cache(1_000)(Flask.ensure_sync)

    def __call__(
        self, environ: dict[str, Any], start_response: StartResponse
    ) -> Iterable[bytes]:
        """Answer a request; it waits for the stores until its deadline at most."""
        deadline.set(clock.monotonic() + timeouts.LIMITS.stores_seconds)
        try:
            return self.wsgi_app(environ, start_response)
        finally:
            deadline.set(NEVER)  # for what the thread does after the request
            close_connections()

    # With nothing to call, Flask would still look through the blueprints of a request
    # and send two signals, which takes 2 % of a list.

    def do_teardown_request(self, *exc: Any) -> None:
        """Call what is registered for the end of a request, if anything is."""
        if self.teardown_request_funcs or request_tearing_down.receivers:
            super().do_teardown_request(*exc)

    def do_teardown_appcontext(self, *exc: Any) -> None:
        """Call what is registered for the end of its context, if anything is."""
        if self.teardown_appcontext_funcs or appcontext_tearing_down.receivers:
            super().do_teardown_appcontext(*exc)

    def request_context(self, environ: dict[str, Any]) -> RequestContext:
        """Return the context of a request; those to the API have no session."""
        request = self.request_class(environ)
        session = NO_SESSION if is_api_path(request.path) else None
        return RequestContext(self, environ, request, session)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return the adapter that finds the route of a request, whatever its host.

        Flask's own version also matches the host, which costs 5 % of a request.
        """
        if request is None:
            return super().create_url_adapter(None)
        # Werkzeug takes //v1/pets for /v1/pets, whatever `merge_slashes` says.
        is_doubled = request.environ.get("PATH_INFO", "").startswith("//")
        return MapAdapter(
            self.url_map,
            server_name=request.environ.get("HTTP_HOST", ""),
            script_name=request.root_path,
            subdomain="",
            url_scheme=request.scheme,
            path_info=NO_PATH if is_doubled else request.path,
            default_method=request.method,
            query_args=request.query_string.decode("latin-1"),
        )


class IdConverter(BaseConverter):
    """An id in a path: a canonical int64, or else the path is not found."""

    regex = INTEGER_PATTERN

    def to_python(self, value: str) -> int:
        if int(value) > INT64_MAX:
            raise NotFound
        return int(value)


def init_app(app: Flask) -> None:
    """Let routes be exact and contain ids, and begin each request."""
    app.url_map.converters["id"] = IdConverter
    app.url_map.merge_slashes = False
    app.before_request(_begin)


def _begin() -> None:
    """Give the request its id and its state, with the headers of every answer.

    Raises what made the request unreadable.
    """
    request = current_request()
    request_id = request_id_of(request.environ)
    headers = [(REQUEST_ID, request_id), NOSNIFF]
    request.state = RequestState(
        request_id, clock.monotonic(), headers, is_api_path(request.path)
    )
    # Only a trusted proxy can say that the request came over TLS.
    if request.scheme == "https":
        headers.append(TRANSPORT_SECURITY)
    # The environ must not keep the error, since its traceback refers to the environ.
    if error := request.environ.pop(UNREADABLE, None):
        raise error


def serve_on_every_host(app: Flask, *paths: str) -> None:
    """Let every host serve these paths and those below them, whatever its project."""
    served = app.extensions.setdefault("paths_on_every_host", [])
    # A slash is added to the path of a request before it is compared.
    served += [f"{path}/" for path in paths]


def is_api_path(path: str) -> bool:
    return f"{path}/".startswith(f"{API_PREFIX}/")


def camel(name: str) -> str:
    """Return a name of Python as the interface description has it: `listPets`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def request_id_of(environ: dict[str, Any]) -> str:
    """Return the id that the client has sent, or a new one if that is not valid."""
    sent: str = environ.get("HTTP_X_REQUEST_ID", "")
    if _VALID_ID.fullmatch(sent) and not contains_key(sent):
        return sent
    return randomness.source.randbytes(16).hex()
