"""Pages of a list: the body stays a bare array, the way on is a Link (RFC 8288)."""

from typing import Any
from urllib.parse import quote, urlencode

from flask import request

from petstore.api.contract import Answer

HOST_CHARACTERS = "[]:%!$&'()*+,;="  # besides letters and such (RFC 3986 section 3.2)


def page(rows: list[Any], limit: int) -> Answer:
    """The first `limit` of the rows; what lies beyond only tells that more follow."""
    shown = rows[:limit]
    if len(rows) == len(shown):
        return Answer(shown)
    parameters = request.args.to_dict() | {"after": shown[-1].id}
    # Not `request.host`, which is empty for a name with an underscore.
    host = quote(request.headers.get("Host") or request.host, safe=HOST_CHARACTERS)
    here = f"{request.scheme}://{host}{request.path}"
    return Answer(shown, {"Link": f'<{here}?{urlencode(parameters)}>; rel="next"'})
