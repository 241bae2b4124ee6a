"""What an operation takes and returns, declared once beside its view."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Response
from marshmallow import Schema, ValidationError, missing

from petstore.api.bodies import read_object
from petstore.errors import InvalidRequest
from petstore.models import RuleError
from petstore.schemas.dumping import dumper_of
from petstore.schemas.fields import StrictSchema
from petstore.web.responses import JsonResponse
from petstore.web.routing import current_g, current_request, repeated_names

Operation = Callable[..., Response]

NO_PARAMETERS = StrictSchema()


@dataclass
class Result:
    """What a view returns: a value to dump, and headers."""

    value: Any
    headers: dict[str, str] = field(default_factory=dict)
    is_created: bool = False

    @property
    def status(self) -> int:
        """201 if a resource was created, else 200."""
        return 201 if self.is_created else 200


# Takes the id of the project first, then what query, body and path contain.
View = Callable[..., Result]


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Loads query and body into the arguments of a view, and dumps its result.

    It becomes the attribute `contract` of the operation; the interface description is
    generated from it.
    """

    returns: Schema
    statuses: tuple[int, ...] = (200,)
    query: Schema = NO_PARAMETERS
    body: Schema | None = None
    rule_errors: tuple[type[RuleError], ...] = ()  # what the view may raise
    links: dict[str, dict[str, str]] = field(default_factory=dict)  # by operation id

    def __call__(self, view: View) -> Operation:
        """Decorate a view."""
        dump = dumper_of(self.returns)
        defaults = _load(self.query, {})

        @functools.wraps(view)
        def respond(**arguments: Any) -> Response:
            request = current_request()
            if request.query_string:
                parameters = request.args
                arguments |= _load(
                    self.query, parameters.to_dict(), repeated_names(parameters)
                )
            else:
                arguments |= defaults
            if self.body:
                members = read_object()
                arguments |= _load(self.body, members, members.repeated)
            result = view(current_g().caller.project_id, **arguments)
            return JsonResponse(
                orjson.dumps(dump(result.value)), result.status, result.headers
            )

        respond.contract = self  # type: ignore[attr-defined]  # a function may have any attribute
        return respond


def _load(
    schema: Schema, members: Mapping[str, Any], repeated: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the arguments that the fields of a schema make of members.

    `Schema.load` can do much that no schema here needs, and takes three times as long.
    """
    loaded: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    members = dict(members)
    for argument, each in schema.load_fields.items():
        name = each.data_key or argument
        try:
            value = each.deserialize(members.pop(name, missing))
        except ValidationError as error:
            faults[name] = error.messages
        else:
            if value is not missing:
                loaded[argument] = value
    faults |= {name: [schema.error_messages["unknown"]] for name in members}
    faults |= {name: ["must not be repeated"] for name in repeated}
    if faults:
        raise InvalidRequest.of_members(faults)
    return loaded
