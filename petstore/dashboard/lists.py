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
    sent = {name: text for name, text in request.args.items() if text}
    asked = _load(query, sent)
    limit, after, status = asked["limit"], asked["after"], asked.get("status")
    filters = {"status": status} if "status" in query.fields else {}
    rows = fetch(after=after, limit=limit + 1, **filters)
    shown = rows[:limit]
    return Page(
        shown,
        status,
        first_url=_url(sent, after=None) if after else None,
        next_url=_url(sent, after=shown[-1].id) if len(rows) > limit else None,
    )


def _load(query: Schema, sent: dict[str, str]) -> dict[str, Any]:
    try:
        return query.load(sent)
    except ValidationError:
        raise InvalidRequest(
            "The address of this list is mistyped. Choose the list from the pages."
        ) from None


def _url(sent: dict[str, str], after: int | None) -> str:
    # Only what the schema knows: other names may be options of `url_for`.
    return url_for(request.endpoint, **sent | {"after": after})
