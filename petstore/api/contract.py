"""What an operation takes and returns, declared once beside its view."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson
from flask import Response
from marshmallow import ValidationError

from petstore.api.bodies import read_object
from petstore.errors import InvalidRequest
from petstore.models import RuleError
from petstore.schemas import UNKNOWN, ResourceSchema, StrictSchema, faults_of
from petstore.web.application import current_request, repeated_names
from petstore.web.responses import JsonResponse, no_content

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

    The interface description is generated from it.
    """

    takes: str  # the least role of a key that may call it
    returns: ResourceSchema | None  # None stands for 204
    statuses: tuple[int, ...] = (200,)
    query: StrictSchema = NO_PARAMETERS
    body: StrictSchema | None = None
    rule_errors: tuple[type[RuleError], ...] = ()  # what the view may raise
    links: dict[str, dict[str, str]] = field(default_factory=dict)  # by operation id
    example: dict[str, str] = field(default_factory=dict)  # members of its own

    def __call__(self, view: View) -> "Operation":
        """Decorate a view."""
        return Operation(self, view)


class Operation:
    """A view behind its contract; Flask calls it with the ids of the path.

    First it loads and checks everything, then it carries out the request. A decorator
    can therefore put a transaction around the second half alone.
    """

    def __init__(self, contract: Contract, view: View) -> None:
        functools.update_wrapper(self, view)
        self.contract = contract
        self._view = view
        self._defaults = _load(contract.query, {})

    def __call__(self, **arguments: Any) -> Response:
        """Answer the request."""
        return self.carry_out(self.load(arguments))

    def load(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Add what query and body contain to the arguments of the path.

        Raises `ErrorResponse` if the contract is broken.
        """
        request = current_request()
        if request.query_string:
            parameters = request.args
            arguments |= _load(
                self.contract.query, parameters.to_dict(), repeated_names(parameters)
            )
        else:
            arguments |= self._defaults
        if self.contract.body:
            members = read_object()
            arguments |= _load(self.contract.body, members, members.repeated)
        return arguments

    def carry_out(self, arguments: dict[str, Any]) -> Response:
        """Call the view and dump its result."""
        caller = current_request().state.required_caller
        result = self._view(caller.project_id, **arguments)
        if self.contract.returns is None:
            return no_content()
        dumped = self.contract.returns.dump(result.value)
        return JsonResponse(_json(dumped), result.status, result.headers)


def _load(
    schema: StrictSchema, members: Mapping[str, Any], repeated: Sequence[str] = ()
) -> dict[str, Any]:
    faults: dict[str, str] = {}
    try:
        loaded: dict[str, Any] = schema.load(members)
    except ValidationError as error:
        faults = faults_of(error)
        for name in members:  # marshmallow names unknown ones in any order
            if faults.get(name) == UNKNOWN:
                faults[name] = faults.pop(name)
    faults |= dict.fromkeys(repeated, "must not be repeated")
    if faults:
        raise InvalidRequest.of_members(faults)
    return loaded


def _json(dumped: Any) -> bytes:
    try:
        return orjson.dumps(dumped, _number)
    except TypeError:  # it takes longer to dump names that are no strings
        return orjson.dumps(dumped, _number, orjson.OPT_NON_STR_KEYS)


def _number(value: Any) -> orjson.Fragment:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError
