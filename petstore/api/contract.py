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
from petstore.errors import Failure
from petstore.schemas.fields import StrictSchema

View = Callable[..., Any]

NO_PARAMETERS = StrictSchema()


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

        @functools.wraps(view)
        def answer(**arguments: Any) -> Response:
            arguments |= _load(self.query, _read_query())
            if self.body:
                arguments |= _load(self.body, read_object())
            return self._dump(view(**arguments))

        answer.contract = self
        return answer

    def _dump(self, answer: Answer) -> Response:
        content = orjson.dumps(self.returns.dump(answer.value))
        return Response(
            content, answer.status, answer.headers, content_type="application/json"
        )


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
