"""What an operation takes and answers, told once beside its view."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Response, request
from marshmallow import Schema, ValidationError
from werkzeug.datastructures import MultiDict

from petstore.api.bodies import read_object
from petstore.api.faults import invalid
from petstore.errors import Failure
from petstore.responses import JsonResponse
from petstore.schemas.dumping import dumper_of
from petstore.schemas.fields import StrictSchema

View = Callable[..., Any]

NO_PARAMETERS = StrictSchema()
REMEMBERED_QUERIES = 1024


@dataclass
class Answer:
    """What a view answers, with headers of its own."""

    value: Any
    headers: dict[str, str] = field(default_factory=dict)
    is_created: bool = False

    @property
    def status(self) -> int:
        """201 where something came into being, else 200."""
        return 201 if self.is_created else 200


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Loads the query and the body into the view's arguments and dumps its answer.

    It stays on the view as `contract`, for the interface description to read.
    """

    returns: Schema
    statuses: tuple[int, ...] = (200,)
    query: Schema = NO_PARAMETERS
    body: Schema | None = None
    failures: tuple[type[Failure], ...] = ()  # those of this operation alone
    links: dict[str, dict[str, str]] = field(default_factory=dict)  # by operation id

    def __call__(self, view: View) -> View:
        """Decorate a view."""
        dump = dumper_of(self.returns)
        load_query = _query_loader(self.query)

        @functools.wraps(view)
        def answer(**arguments: Any) -> Response:
            arguments |= load_query(request.query_string)
            if self.body:
                arguments |= _load(self.body, read_object())
            result = view(**arguments)
            return JsonResponse(
                orjson.dumps(dump(result.value)), result.status, result.headers
            )

        answer.contract = self
        return answer


def _query_loader(schema: Schema) -> Callable[[bytes], dict[str, Any]]:
    # Clients ask the same again and again: what a query string means is remembered.
    @functools.lru_cache(REMEMBERED_QUERIES)
    def load(_query_string: bytes) -> dict[str, Any]:
        return _load(schema, _unrepeated(request.args))

    return load


def _unrepeated(parameters: MultiDict) -> dict[str, str]:
    repeated = [name for name, values in parameters.lists() if len(values) > 1]
    if repeated:
        raise invalid({name: ["must not be repeated"] for name in repeated})
    return parameters.to_dict()


def _load(schema: Schema, members: dict[str, Any]) -> dict[str, Any]:
    try:
        return schema.load(members)
    except ValidationError as error:
        raise invalid(error.messages) from None
