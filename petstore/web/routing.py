"""Routing: paths under /v1, ids in paths, and Flask without what is not needed."""

from collections.abc import Callable
from io import BytesIO
from typing import IO, Any

from flask import Flask, Request, g, request
from werkzeug.exceptions import NotFound, RequestEntityTooLarge
from werkzeug.routing import BaseConverter, MapAdapter
from werkzeug.utils import cached_property
from werkzeug.wsgi import get_input_stream

from petstore.errors import MAX_BODY_BYTES
from petstore.schemas.fields import INT64_MAX, INTEGER_PATTERN

API_PREFIX = "/v1"


class ServiceRequest(Request):
    """A request with a body of at most MAX_BODY_BYTES."""

    @cached_property
    def stream(self) -> IO[bytes]:
        """The body; raises `RequestEntityTooLarge` if it is too long.

        Werkzeug's own limit cuts a chunked body off instead of refusing it, and makes a
        POST 3 % slower.
        """
        if (self.content_length or 0) > MAX_BODY_BYTES:
            raise RequestEntityTooLarge
        stream = get_input_stream(self.environ)
        if self.content_length is None:
            stream = BytesIO(stream.read(MAX_BODY_BYTES + 1))
            if stream.getbuffer().nbytes > MAX_BODY_BYTES:
                raise RequestEntityTooLarge
        return stream


class Service(Flask):
    """A Flask application whose routes depend on the path alone."""

    request_class = ServiceRequest

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return the adapter that finds the route of a request, whatever its host.

        Werkzeug's own way of making it costs 5 % more of a request, for hosts.
        """
        if request is None:
            return super().create_url_adapter(None)
        return MapAdapter(
            self.url_map,
            server_name=request.environ.get("HTTP_HOST", ""),
            script_name=request.root_path,
            subdomain="",
            url_scheme=request.scheme,
            path_info=request.path,
            default_method=request.method,
            query_args=request.query_string.decode("latin-1"),
        )

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself: no view and no hook here is asynchronous.

        Flask inspects each function again at each call, which costs 3 % of a request.
        """
        return func


class IdConverter(BaseConverter):
    """An id in a path: a canonical int64, or else the path is not found."""

    regex = INTEGER_PATTERN

    def to_python(self, value: str) -> int:
        """Return the id; raises `NotFound`."""
        if int(value) > INT64_MAX:
            raise NotFound
        return int(value)


def init_app(app: Flask) -> None:
    """Let routes contain ids, and match paths exactly as they are sent."""
    app.url_map.converters["id"] = IdConverter
    app.url_map.merge_slashes = False
    app.before_request(_reject_doubled_slash)


def current_request() -> Request:
    """Return the request itself: Flask's proxies cost 10 % of a request."""
    # Flask declares its proxies as the objects that they stand for.
    return request._get_current_object()  # type: ignore[attr-defined, no-any-return]


def current_g() -> Any:
    """Return `g` itself, for the same reason."""
    return g._get_current_object()


def is_api_path(path: str) -> bool:
    """Return whether a path belongs to the API, known or not."""
    return f"{path}/".startswith(f"{API_PREFIX}/")


def _reject_doubled_slash() -> None:
    # Werkzeug takes //v1/pets for /v1/pets, whatever `merge_slashes` says.
    request = current_request()
    if request.environ["PATH_INFO"].startswith("//"):
        request.url_rule, request.routing_exception = None, NotFound()
