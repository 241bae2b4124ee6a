"""Pages of a list: the body stays a bare array, the way on is a Link (RFC 8288)."""

from typing import Any
from urllib.parse import urlencode

from flask import request

from petstore.api.contract import Answer


def page(rows: list[Any], limit: int) -> Answer:
    """The first `limit` of the rows; what lies beyond only tells that more follow."""
    shown = rows[:limit]
    if len(rows) == len(shown):
        return Answer(shown)
    parameters = request.args.to_dict() | {"after": shown[-1].id}
    # A Host header that cannot be one leaves a relative reference.
    origin = f"{request.scheme}://{request.host}" if request.host else ""
    here = f"{origin}{request.path}"
    return Answer(shown, {"Link": f'<{here}?{urlencode(parameters)}>; rel="next"'})
