"""Pages of a list: the body stays a bare array, the way on is a Link (RFC 8288)."""

import functools
from typing import Any
from urllib.parse import quote, urlencode

from flask import request

from petstore.api.contract import REMEMBERED_QUERIES, Answer

REMEMBERED_HOSTS = 64
HOST_CHARACTERS = "[]:%!$&'()*+,;="  # besides letters and such (RFC 3986 section 3.2)


def page(rows: list[Any], limit: int) -> Answer:
    """The first `limit` of the rows; what lies beyond only tells that more follow."""
    shown = rows[:limit]
    if len(rows) == len(shown):
        return Answer(shown)
    asked = request._get_current_object()
    here = f"{asked.scheme}://{_host(asked.environ)}{asked.path}"
    query = f"{_kept_parameters(asked.query_string)}after={shown[-1].id}"
    return Answer(shown, {"Link": f'<{here}?{query}>; rel="next"'})


def _host(environ: dict[str, Any]) -> str:
    # Not `request.host`, which is empty for a name with an underscore.
    return _quoted(environ.get("HTTP_HOST") or environ["SERVER_NAME"])


@functools.lru_cache(REMEMBERED_HOSTS)
def _quoted(host: str) -> str:
    return quote(host, safe=HOST_CHARACTERS)


@functools.lru_cache(REMEMBERED_QUERIES)
def _kept_parameters(_query_string: bytes) -> str:
    kept = request.args.to_dict()
    kept.pop("after", None)
    return f"{urlencode(kept)}&" if kept else ""
