"""Lists of a project's rows, filtered by status, one page at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import request, url_for
from marshmallow import Schema, ValidationError

from petstore.errors import InvalidRequest


@dataclass(frozen=True)
class Page:
    """Some rows, and the URLs of the first and the next page."""

    rows: list[Any]
    status: str | None
    first_url: str | None
    next_url: str | None


def read_page(query: Schema, fetch: Callable[..., list[Any]]) -> Page:
    """Return the page in the query string, of the rows that `fetch` returns."""
    parameters = {name: text for name, text in request.args.items() if text}
    loaded = _load(query, parameters)
    limit, after, status = loaded["limit"], loaded["after"], loaded.get("status")
    filters = {"status": status} if "status" in query.fields else {}
    rows = fetch(after=after, limit=limit + 1, **filters)
    shown = rows[:limit]
    return Page(
        shown,
        status,
        first_url=_url(parameters, after=None) if after else None,
        next_url=_url(parameters, after=shown[-1].id) if len(rows) > limit else None,
    )


def _load(query: Schema, parameters: dict[str, str]) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = query.load(parameters)
    except ValidationError:
        raise InvalidRequest(
            "The address of this page is mistyped. Open the list from the menu."
        ) from None
    return loaded


def _url(parameters: dict[str, str], after: int | None) -> str:
    # The schema has accepted the names, so none is an option of `url_for`.
    values: dict[str, Any] = parameters | {"after": after}
    return url_for(request.endpoint or "", **values)
