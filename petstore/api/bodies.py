"""JSON bodies, parsed strictly (RFC 8259; RFC 7493 on what must not be sent)."""

import json
import re
from collections import Counter
from decimal import Decimal
from typing import Any

import orjson
from werkzeug.http import parse_options_header

from petstore.errors import ErrorResponse, InvalidRequest
from petstore.web.application import current_request

NOT_JSON = "body: must be JSON in UTF-8, with numbers up to 1.8e308"
NOT_UTF8 = "body: must be UTF-8"
MAX_CONTENT_TYPE_LENGTH = 256
MAX_MEMBERS = 100
# A colon outside strings follows the name of a member. An object without members counts
# as one, since each object is made in Python.
_TOO_MANY_MEMBERS = re.compile(
    rb'(?:(?:[^":{]++|"(?:[^"\\]++|\\.)*+"|{(?!\s*}))*+[:{]){%d}' % (MAX_MEMBERS + 1),
    re.DOTALL,
)
CHARSETS = ("utf-8", "utf8", "us-ascii")


class Members(dict[str, Any]):
    """The members of a JSON object; `repeated` holds the names that are repeated.

    It has those of objects within the object as well, `owner.name` for instance.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: list[str] = []
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated = [name for name in counts if counts[name] > 1]
        for name, value in pairs:
            self.repeated += [f"{name}.{inner}" for inner in _repeated_in(value)]


def _repeated_in(value: Any) -> list[str]:
    if isinstance(value, list):
        inner = enumerate(map(_repeated_in, value))
        return [f"{place}.{name}" for place, names in inner for name in names]
    return value.repeated if isinstance(value, Members) else []


def read_object() -> Members:
    """Return the members of the request's JSON object; fractions are `Decimal`."""
    request = current_request()
    media_type, charset = _parse_content_type(request.environ.get("CONTENT_TYPE", ""))
    if media_type != "application/json" or request.environ.get("HTTP_CONTENT_ENCODING"):
        raise ErrorResponse("unsupported_media_type")
    if charset not in CHARSETS:
        raise InvalidRequest(NOT_UTF8)
    body = request.get_data(cache=False)
    most = body.count(b":") + body.count(b"{")
    if most > MAX_MEMBERS and _TOO_MANY_MEMBERS.match(body):
        raise InvalidRequest(f"body: must have at most {MAX_MEMBERS} members")
    members = _parse(body)
    if not isinstance(members, Members):
        raise InvalidRequest("body: must be a JSON object")
    return members


def _parse_content_type(header: str) -> tuple[str, str]:
    """Return the media type and the charset."""
    if header == "application/json":
        return header, "utf-8"
    if len(header) > MAX_CONTENT_TYPE_LENGTH:
        return "", ""
    media_type, parameters = parse_options_header(header)
    return media_type.lower(), parameters.get("charset", "utf-8").lower()


def _parse(body: bytes) -> Any:
    try:
        # orjson is strict on encoding, surrogates, NaN and nesting. Repeated members
        # and digits beyond a double only show in the second parse.
        orjson.loads(body)
        return _decoder.raw_decode(body.decode().lstrip())[0]
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(_fault(body, error)) from None
    except (ValueError, ArithmeticError, RecursionError):
        raise InvalidRequest(NOT_JSON) from None


def _fault(body: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    place = f"line {error.lineno}, column {error.colno}"
    return f"body: is not JSON at {place}: {error.msg}"


_decoder = json.JSONDecoder(object_pairs_hook=Members, parse_float=Decimal)
