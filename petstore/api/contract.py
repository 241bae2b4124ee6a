"""The parameters, body and result of an operation, declared once beside its view.

JSON bodies are parsed strictly (RFC 8259; RFC 7493 on what must not be sent).
"""

import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from email.utils import formatdate
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from flask import Response, current_app
from marshmallow import ValidationError
from werkzeug.http import parse_options_header

from petstore import clock
from petstore.errors import NO_HEADERS, ErrorResponse, InvalidRequest
from petstore.models import Conflict, RuleError
from petstore.models.stored_responses import Attempt, StillRunning, StoredResponse
from petstore.schemas import ResourceSchema, StrictSchema, faults_of
from petstore.storage import NumberLocked, Row
from petstore.web.application import (
    JsonResponse,
    current_request,
    no_content,
)

NO_PARAMETERS = StrictSchema()
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
HOST_CHARACTERS = "[]:%!$&'()*+,;="  # besides letters and such (RFC 3986 section 3.2)
JSON = "application/json"
ACCEPT_PATCH = {"Accept-Patch": JSON}  # RFC 5789 section 3.1
MAX_MEMBERS = 100
# It matches a body with more members than that, before any of them is parsed. In JSON,
# each colon outside of strings follows the name of a member. An object without members
# counts as one, since Python code runs for each object. The quantifiers are possessive
# (`++`), so that the body is read once.
_TOO_MANY_MEMBERS = re.compile(
    rb'(?:(?:[^":{]++|"(?:[^"\\]++|\\.)*+"|{(?!\s*}))*+[:{]){%d}' % (MAX_MEMBERS + 1),
    re.DOTALL,
)
CHARSETS = ("utf-8", "utf8", "us-ascii")


@dataclass
class Result:
    """The value that a view returns, to be dumped, and headers."""

    value: Any
    headers: dict[str, str] = field(default_factory=dict)
    is_created: bool = False  # if that is one of two statuses


@dataclass(frozen=True)
class Deprecation:
    """Since when an operation is deprecated, and when it is removed."""

    since_ms: int
    removed_ms: int
    successor: str
    documentation: str

    @functools.cached_property
    def headers(self) -> dict[str, str]:
        """Deprecation (RFC 9745), Sunset (RFC 8594) and Link."""
        return {
            "Deprecation": f"@{self.since_ms // clock.MS_PER_SECOND}",
            "Sunset": formatdate(self.removed_ms // clock.MS_PER_SECOND, usegmt=True),
            "Link": f'<{self.successor}>; rel="successor-version", '
            f'<{self.documentation}>; rel="deprecation"; type="text/html"',
        }

    def announce(self) -> None:
        """Add the headers to the response; raises a 410 from the removal on."""
        current_request().state.headers += self.headers.items()
        if clock.now_ms() >= self.removed_ms:
            date = clock.utc_date(self.removed_ms)
            raise ErrorResponse("operation_removed", date, self.successor)


# It takes the id of the project, and then the parameters, members and ids. Without a
# `returns` of its contract, it returns nothing.
View = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Loads query and body into the arguments of a view, and dumps its result.

    The interface description is generated from it.
    """

    required_role: str  # the least role of a key that may call it
    returns: ResourceSchema | None = None  # None stands for 204
    paged: bool = False  # whether it returns a list, by `limit` and `after`
    statuses: tuple[int, ...] = (200,)  # with what it returns
    query: StrictSchema = NO_PARAMETERS
    body: StrictSchema | None = None
    rule_errors: tuple[type[RuleError], ...] = ()  # what the view may raise
    deprecation: Deprecation | None = None
    example: dict[str, str] = field(default_factory=dict)  # members of its own

    def __call__(self, view: View) -> "Operation":
        return Operation(self, view)


class Operation:
    """A view behind its contract; Flask calls it with the ids of the path.

    It first loads and checks everything, and then carries out the request. With an
    Idempotency-Key, only the second half runs in the transaction that also stores the
    response: a refused request must not hold the writer's lock.
    """

    def __init__(self, contract: Contract, view: View) -> None:
        functools.update_wrapper(self, view)
        self.contract = contract
        self._view = view
        self._defaults = _load(contract.query, Members([]))

    def __call__(self, **arguments: Any) -> Response:
        if self.contract.deprecation:
            self.contract.deprecation.announce()
        attempt = _read_attempt()
        if attempt is None:
            return self._carry_out(self._load_all(arguments))
        try:
            arguments = self._load_all(arguments)
        except ErrorResponse:
            # A retry gets the stored response, or a 422 if this is another body.
            if stored := StoredResponse.find(attempt):
                return _replay(stored, attempt)
            raise
        return self._carry_out_once(attempt, arguments)

    def _load_all(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Add the parameters and members to the arguments of the path.

        Raises `ErrorResponse` if the contract is broken.
        """
        request = current_request()
        if request.query_string:
            arguments |= _load(self.contract.query, Members(request.parameters))
        else:
            arguments |= self._defaults
        if self.contract.body:
            arguments |= _load(self.contract.body, read_object())
        return arguments

    def _carry_out_once(self, attempt: Attempt, arguments: dict[str, Any]) -> Response:
        with ExitStack() as stack:
            try:
                stack.enter_context(StoredResponse.atomic(attempt))
            except NumberLocked:
                raise StillRunning from None
            if stored := StoredResponse.find(attempt):
                return _replay(stored, attempt)
            try:
                response = self._carry_out(arguments)
            except Conflict as conflict:
                # A retry has to get the same answer, so it is stored like a success.
                answer = current_app.handle_user_exception(conflict)
                response = current_app.make_response(answer)
            StoredResponse.keep(
                attempt,
                response.status_code,
                response.headers.get("Location"),
                response.get_data(),
            )
        return response

    def _carry_out(self, arguments: dict[str, Any]) -> Response:
        contract, project_id = self.contract, current_request().state.project_id
        if contract.paged:
            arguments["limit"] += 1  # one more row shows that others follow
        result = self._view(project_id, **arguments)
        if contract.returns is None:
            return no_content()
        if contract.paged:
            result = _page(result.value, arguments["limit"] - 1)
        dumped = contract.returns.dump(result.value, many=contract.paged)
        status = contract.statuses[-1 if result.is_created else 0]
        return JsonResponse.of(dumped, status, result.headers)


def _page(rows: Sequence[Any], limit: int) -> Result:
    """Return the first `limit` rows, and a link if there are more (RFC 8288)."""
    if len(rows) <= limit:
        return Result(rows)
    shown, request = rows[:limit], current_request()
    # Not `request.host`, which is empty for a name with an underscore.
    here = "{SERVER_NAME}:{SERVER_PORT}".format_map(request.environ)
    host = quote(request.environ.get("HTTP_HOST") or here, safe=HOST_CHARACTERS)
    query = dict(request.parameters)
    query.pop("after", None)
    query["after"] = str(shown[-1].id)
    url = f"{request.scheme}://{host}{request.path}?{urlencode(query)}"
    return Result(shown, {"Link": f'<{url}>; rel="next"'})


def _read_attempt() -> Attempt | None:
    """Return the attempt that the request makes, if it has an Idempotency-Key."""
    request = current_request()
    header = request.environ.get("HTTP_IDEMPOTENCY_KEY")
    if header is None or request.method not in StoredResponse.methods:
        return None
    is_quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if is_quoted else header
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidRequest(
            "Idempotency-Key: must be 1 to 255 characters from ! to ~, quoted or not"
        )
    fingerprint = hashlib.sha256(request.get_data()).digest()
    return Attempt(request.state.project_id, request.path, key, fingerprint)


def _replay(stored: Row, attempt: Attempt) -> Response:
    if bytes(stored.fingerprint) != attempt.fingerprint:
        raise ErrorResponse("idempotency_key_reused")
    headers = {"Idempotent-Replayed": "true"}
    if stored.location:
        headers["Location"] = stored.location
    body, status = bytes(stored.body), stored.status
    if status >= HTTPStatus.BAD_REQUEST:
        current_request().state.error_code = orjson.loads(body)["code"]  # for the log
    return JsonResponse(body, status, headers)


def _load(schema: StrictSchema, members: "Members") -> dict[str, Any]:
    faults: dict[str, str] = {}
    try:
        loaded: dict[str, Any] = schema.load(members)
    except ValidationError as error:
        faults = faults_of(error)
    faults |= dict.fromkeys(members.repeated, "must not be repeated")
    if faults:
        raise InvalidRequest.of_members(faults)
    return loaded


class Members(dict[str, Any]):
    """The members of a JSON object, or the parameters of a query.

    `repeated` contains the names that occur more than once.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: list[str] = []
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated = [name for name in counts if counts[name] > 1]


def read_object() -> Members:
    """Return the members of the request's JSON object; fractions are `Decimal`."""
    request = current_request()
    media_type, parameters = parse_options_header(request.environ.get("CONTENT_TYPE"))
    is_json = media_type.lower() == JSON
    if not is_json or request.environ.get("HTTP_CONTENT_ENCODING"):
        headers = ACCEPT_PATCH if request.method == "PATCH" else NO_HEADERS
        how = "without Content-Encoding" if is_json else f"with Content-Type: {JSON}"
        raise ErrorResponse("unsupported_media_type", how, headers=headers)
    if parameters.get("charset", "utf-8").lower() not in CHARSETS:
        raise InvalidRequest("Content-Type: must not have another charset than utf-8")
    body = request.get_data(cache=False)
    # These are quickly counted, and seldom many.
    most = body.count(b":") + body.count(b"{")
    if most > MAX_MEMBERS and _TOO_MANY_MEMBERS.match(body):
        raise InvalidRequest(f"body: must have at most {MAX_MEMBERS} members")
    members = _parse(body)
    if not isinstance(members, Members):
        raise InvalidRequest("body: must be a JSON object")
    return members


def _parse(body: bytes) -> Any:
    try:
        # orjson is strict on surrogates, NaN and nesting. Repeated members
        # and digits beyond a double only show in the second parse.
        text = body.decode()
        orjson.loads(body)
        return _decoder.raw_decode(text.lstrip())[0]
    except UnicodeDecodeError:
        raise InvalidRequest("body: must be UTF-8") from None
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        fault = f"body: is not JSON at {place}: {error.msg}"
        raise InvalidRequest(fault) from None
    except RecursionError:
        raise InvalidRequest("body: has too many levels") from None
    except (ValueError, ArithmeticError):
        raise InvalidRequest("body: has a number with too large an exponent") from None


_decoder = json.JSONDecoder(object_pairs_hook=Members, parse_float=Decimal)
