"""Operations on their way out: announced in headers, gone when their date has come."""

import functools
from collections.abc import Callable
from email.utils import formatdate

from flask import Response, after_this_request

from petstore import clock
from petstore.api.contract import View
from petstore.errors import OperationRemoved
from petstore.responses import put


def deprecated(
    *, since_ms: int, removed_ms: int, successor: str, documentation: str
) -> Callable[[View], View]:
    """Mark an operation with Deprecation (RFC 9745), Sunset (RFC 8594) and Link.

    From the removal on it answers 410.
    """
    headers = {
        "Deprecation": f"@{since_ms // clock.MS_PER_SECOND}",
        "Sunset": formatdate(removed_ms // clock.MS_PER_SECOND, usegmt=True),
        "Link": (
            f'<{successor}>; rel="successor-version", '
            f'<{documentation}>; rel="deprecation"; type="text/html"'
        ),
    }

    def announce(response: Response) -> Response:
        put(response, headers.items())
        return response

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def answer(**arguments: object) -> Response:
            after_this_request(announce)
            if clock.now_ms() >= removed_ms:
                raise OperationRemoved(
                    f"This operation was removed on {clock.rfc3339(removed_ms)[:10]}; "
                    f"use {successor}."
                )
            return view(**arguments)

        answer.deprecation = headers
        return answer

    return decorate
