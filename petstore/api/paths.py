"""The addresses under /v1."""

from flask import Request
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter

from petstore.schemas.fields import INT64_PATTERN

PREFIX = "/v1"


class IdConverter(BaseConverter):
    """An id in a path; what is no int64 in its one spelling names nothing: 404."""

    regex = INT64_PATTERN

    def to_python(self, value: str) -> int:
        """The id."""
        return int(value)


def undo_stripped_slashes(request: Request) -> None:
    """Let a path that begins with a doubled slash name nothing.

    Werkzeug takes //v1/pets for /v1/pets, whatever `merge_slashes` says.
    """
    if request.environ["PATH_INFO"].startswith("//"):
        request.url_rule, request.routing_exception = None, NotFound()


def is_api_path(path: str) -> bool:
    """Whether a path is the API's, known or not."""
    return path.startswith(PREFIX) and path[len(PREFIX) :][:1] in ("", "/")
