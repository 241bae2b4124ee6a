"""Pages of a list: the body is a bare array, the next page a Link (RFC 8288)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from petstore.api.contract import Result
from petstore.web.application import current_request

HOST_CHARACTERS = "[]:%!$&'()*+,;="  # besides letters and such (RFC 3986 section 3.2)


def page(rows: Sequence[Any], limit: int) -> Result:
    """Return the first `limit` rows, and a link if there are more."""
    shown = rows[:limit]
    if len(rows) == len(shown):
        return Result(shown)
    current = current_request()
    url = f"{current.scheme}://{_host(current.environ)}{current.path}"
    # The contract has checked the parameters: no value needs quoting.
    others = [f"{k}={v}&" for k, v in current.args.items() if k != "after"]
    query = f"{''.join(others)}after={shown[-1].id}"
    return Result(shown, {"Link": f'<{url}?{query}>; rel="next"'})


def _host(environ: dict[str, Any]) -> str:
    # Not `request.host`, which is empty for a name with an underscore.
    host = environ.get("HTTP_HOST")
    if not host:  # in HTTP/1.0
        host = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return quote(host, safe=HOST_CHARACTERS)
