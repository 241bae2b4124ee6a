"""Deprecated operations: announced in headers, removed at their date."""

import functools
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

from flask import Response

from petstore import clock
from petstore.errors import ErrorResponse
from petstore.web.application import current_request


def deprecated(
    *, since_ms: int, removed_ms: int, successor: str, documentation: str
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Add Deprecation (RFC 9745), Sunset (RFC 8594) and Link to an operation.

    From its removal on, the operation answers 410.
    """
    headers = {
        "Deprecation": f"@{since_ms // clock.MS_PER_SECOND}",
        "Sunset": formatdate(removed_ms // clock.MS_PER_SECOND, usegmt=True),
        "Link": (
            f'<{successor}>; rel="successor-version", '
            f'<{documentation}>; rel="deprecation"; type="text/html"'
        ),
    }

    def decorate(operation: Callable[..., Response]) -> Callable[..., Response]:
        @functools.wraps(operation)
        def respond(**arguments: Any) -> Response:
            current_request().state.headers += headers.items()
            if clock.now_ms() >= removed_ms:
                date = clock.utc_date(removed_ms)
                raise ErrorResponse("operation_removed", date, successor)
            return operation(**arguments)

        # A function may have any attribute.
        respond.deprecation = headers  # type: ignore[attr-defined]
        return respond

    return decorate
