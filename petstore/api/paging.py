"""Pages of a list: the body stays a bare array, the way on is a Link (RFC 8288)."""

import functools
from typing import Any
from urllib.parse import urlencode

from flask import request

from petstore.api.contract import REMEMBERED_QUERIES, Answer


def page(rows: list[Any], limit: int) -> Answer:
    """The first `limit` of the rows; what lies beyond only tells that more follow."""
    shown = rows[:limit]
    if len(rows) == len(shown):
        return Answer(shown)
    # A Host header that cannot be one leaves a relative reference.
    origin = f"{request.scheme}://{request.host}" if request.host else ""
    here = f"{origin}{request.path}"
    query = f"{_kept_parameters(request.query_string)}after={shown[-1].id}"
    return Answer(shown, {"Link": f'<{here}?{query}>; rel="next"'})


@functools.lru_cache(REMEMBERED_QUERIES)
def _kept_parameters(_query_string: bytes) -> str:
    kept = request.args.to_dict()
    kept.pop("after", None)
    return f"{urlencode(kept)}&" if kept else ""
