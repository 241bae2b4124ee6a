"""What an operation takes and answers, told once beside its view."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Response, request
from marshmallow import Schema, ValidationError

from petstore.api.bodies import read_object
from petstore.api.faults import invalid
from petstore.schemas.fields import StrictSchema

View = Callable[..., Any]


@dataclass
class Answer:
    """What a view answers, with headers of its own."""

    value: Any
    headers: dict[str, str] = field(default_factory=dict)


def contract(
    *,
    returns: Schema,
    status: int = 200,
    query: Schema | None = None,
    body: Schema | None = None,
) -> Callable[[View], View]:
    """Load the query and the body into the view's arguments, and dump its answer."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def answer(**arguments: Any) -> Response:
            arguments |= _load(query or StrictSchema(), _read_query())
            if body:
                arguments |= _load(body, read_object())
            result = view(**arguments)
            content = orjson.dumps(returns.dump(result.value))
            return Response(
                content, status, result.headers, content_type="application/json"
            )

        return answer

    return decorate


def _read_query() -> dict[str, str]:
    parameters = request.args.to_dict(flat=False)
    repeated = [name for name, values in parameters.items() if len(values) > 1]
    if repeated:
        raise invalid({name: ["must not be repeated"] for name in repeated})
    return {name: values[0] for name, values in parameters.items()}


def _load(schema: Schema, members: dict[str, Any]) -> dict[str, Any]:
    try:
        return schema.load(members)
    except ValidationError as error:
        raise invalid(error.messages) from None
