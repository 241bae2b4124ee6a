"""JSON bodies, read strictly (RFC 8259, and RFC 7493 on what must not be sent)."""

import functools
import json
from collections import Counter
from decimal import Decimal
from typing import Any

import orjson
from flask import request
from werkzeug.http import parse_options_header

from petstore.api.faults import invalid
from petstore.errors import InvalidRequest, UnsupportedMediaType

CHARSETS = ("utf-8", "utf8", "us-ascii")


def read_object() -> dict[str, Any]:
    """The members of the request's JSON object; numbers with a point as Decimal."""
    asked = request._get_current_object()
    kind, charset = _kind_of(asked.environ.get("CONTENT_TYPE", ""))
    if kind != "application/json" or asked.content_encoding:
        raise UnsupportedMediaType(
            "The body must be JSON, sent with Content-Type: application/json."
        )
    if charset not in CHARSETS:
        raise InvalidRequest("body: must be UTF-8")
    members = _parse(asked.get_data(cache=False))
    if not isinstance(members, dict):
        raise InvalidRequest("body: must be a JSON object")
    return members


@functools.lru_cache(64)
def _kind_of(content_type: str) -> tuple[str, str]:
    """The media type and the charset that a header Content-Type names."""
    kind, parameters = parse_options_header(content_type)
    return kind.lower(), parameters.get("charset", "utf-8").lower()


def _parse(body: bytes) -> Any:
    try:
        # Strict on encoding, surrogates, NaN and nesting, but blind to a member that
        # stands twice and to digits beyond a double; those the second reading sees.
        orjson.loads(body)
        return _exact.decode(body.decode())
    except (ValueError, ArithmeticError, RecursionError):
        raise InvalidRequest("body: is not valid JSON in UTF-8") from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    times = Counter(name for name, _ in pairs)
    raise invalid({name: ["stands twice"] for name in times if times[name] > 1})


_exact = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_float=Decimal)
