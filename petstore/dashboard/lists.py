"""Lists of a project's rows: filtered by status, a page at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import request, url_for
from marshmallow import Schema, ValidationError

from petstore.errors import InvalidRequest


@dataclass(frozen=True)
class Page:
    """Some rows, and the ways to others."""

    rows: list[Any]
    status: str | None
    first_url: str | None
    next_url: str | None


def read_page(query: Schema, fetch: Callable[..., list[Any]]) -> Page:
    """The page that the address asks for, of the rows that `fetch` finds."""
    asked = _load(query)
    limit, after, status = asked["limit"], asked["after"], asked.get("status")
    rows = fetch(after=after, limit=limit + 1, status=status)
    shown = rows[:limit]
    return Page(
        shown,
        status,
        first_url=_url(after=None) if after else None,
        next_url=_url(after=shown[-1].id) if len(rows) > limit else None,
    )


def _load(query: Schema) -> dict[str, Any]:
    asked = {name: text for name, text in request.args.items() if text}
    try:
        return query.load(asked)
    except ValidationError:
        raise InvalidRequest(
            "The address of this list is mistyped. Choose the list from the pages."
        ) from None


def _url(after: int | None) -> str:
    return url_for(request.endpoint, **request.args | {"after": after})
