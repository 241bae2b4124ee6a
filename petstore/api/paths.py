"""The addresses under /v1."""

from flask import request
from werkzeug.routing import BaseConverter, ValidationError

from petstore.schemas.fields import url_integer

PREFIX = "/v1"


class IdConverter(BaseConverter):
    """An id in a path; what is no int64 in its one spelling names nothing: 404."""

    def to_python(self, value: str) -> int:
        """Raises ValidationError, which Werkzeug answers with 404."""
        number = url_integer(value)
        if number is None:
            raise ValidationError
        return number


def is_api_request() -> bool:
    """Whether the request is for the API, known path or not."""
    return request.path == PREFIX or request.path.startswith(f"{PREFIX}/")
