"""Lists of a project's rows: filters, and pages in both directions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from flask import url_for
from marshmallow import ValidationError

from petstore.concurrency import give_way
from petstore.errors import InvalidRequest
from petstore.extensions.dashboard.limits import count_expensive_page
from petstore.extensions.dashboard.listing import Cursor, ListPage
from petstore.extensions.dashboard.sessions import current_project
from petstore.schemas import StrictSchema
from petstore.web.application import current_request

POSITIONS = ("after", "before", "last", "page", "whole")
SHOWING_ALL = {"limit", "sort", "topic"}  # filters that leave out no row
MAX_WHOLE = 1_000  # rows of a list that is printed
ROWS_AT_A_TIME = 50  # of a page; they take some milliseconds


@dataclass(frozen=True)
class Page:
    endpoint: str
    parameters: dict[str, str]
    values: dict[str, Any]  # of the filters, as the schema loads them
    limit: int
    listed: ListPage

    @property
    def rows(self) -> list[Any]:
        return self.listed.rows

    def each_row(self) -> Iterator[Any]:
        """Yield the rows, and let other requests run between parts of a long list."""
        for number, row in enumerate(self.rows, start=1):
            yield row
            if number % ROWS_AT_A_TIME == 0:
                give_way()

    @property
    def filters(self) -> dict[str, str]:
        """The parameters that are the same on every page of the list."""
        return {
            name: text
            for name, text in self.parameters.items()
            if name not in POSITIONS
        }

    @property
    def is_filtered(self) -> bool:
        return bool(self.filters.keys() - SHOWING_ALL)

    @property
    def number(self) -> int | None:
        """The number of the page in its address; None if the address has none."""
        number = "1" if self.is_first else self.parameters.get("page")
        return int(number) if number else None

    @property
    def pages(self) -> int:
        return max(1, -(-self.listed.total // self.limit))

    @property
    def is_search(self) -> bool:
        return "name" in self.filters

    @property
    def is_whole(self) -> bool:
        """Whether this is the list to print, with as many rows as that may have."""
        return "whole" in self.parameters

    @property
    def is_first(self) -> bool:
        return self.listed.previous is None and self.filters == self.parameters

    def url(self, **changes: Any) -> str:
        """Return the URL of the first page of the list, with other filters."""
        # The schema knows all these names, so `url_for` takes none for an option.
        return url_for(self.endpoint, **(self.filters | changes))

    def number_after(self, step: int) -> int | None:
        return self.number and max(1, self.number + step)


def read_list(
    endpoint: str, query: StrictSchema, fetch: Callable[..., ListPage]
) -> Page:
    """Return the page of a list of the project that the query string asks for.

    `fetch` returns a part of the list. It takes the project, the part, and a keyword
    argument for each filter.
    """
    parameters, values = read_query(query)
    limit, _ = values.pop("limit"), values.pop("page")
    part = Cursor(
        limit=limit,
        after=values.pop("after"),
        before=values.pop("before"),
        is_last=bool(values.pop("last")),
    )
    if values.pop("whole"):
        count_expensive_page()
        part = Cursor(MAX_WHOLE)
    listed = fetch(current_project().id, part, **values)
    return Page(endpoint, parameters, values, limit, listed)


def read_query(schema: StrictSchema) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the query as texts and as loaded values; raises `InvalidRequest`."""
    sent = current_request().parameters
    parameters = {name: text for name, text in sent if text.strip()}
    try:
        if len(dict(sent)) < len(sent):
            raise ValidationError("a parameter is repeated")
        return parameters, schema.load(parameters)
    except ValidationError:
        fault = "It was mistyped or cut off. Open the list from the menu."
        raise InvalidRequest(fault) from None
