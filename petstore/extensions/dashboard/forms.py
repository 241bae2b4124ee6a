"""Forms: sent by pages of this origin, and a refused one is shown as it was typed.

If a form is refused, or its session has ended, a draft of it is in the cookie until its
page opens next. Signing in to another project deletes the draft.
"""

import functools
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, Self

import orjson
from flask import (
    flash,
    g,
    get_flashed_messages,
    redirect,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from petstore import randomness
from petstore.errors import ERRORS, ErrorResponse, InvalidRequest
from petstore.extensions.dashboard.histories import note
from petstore.extensions.dashboard.schemas import SHOWN, FormSchema
from petstore.models import RuleError
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.schemas import faults_of
from petstore.web.application import current_request

KEY = "key"  # the field of a form for a key, which is secret
# A hidden field: a key, new each time a form is shown, then the project of the page.
IDEMPOTENCY_KEY = "idempotency_key"
KEY_BYTES = 9
# The page does not show these again. Password managers fill in `username`.
UNSEEN = (KEY, IDEMPOTENCY_KEY, "username")
TICK = "tick."  # prefix of boxes in the rows of a list, and of what happens to them
PROJECT = "project"  # the member of the cookie: the project that signed in last
DRAFT = "draft"  # the member of the cookie: a form, with its action
STEPS = "steps"  # the member of the cookie: links and a button of a message
MAX_DRAFT_BYTES = 2500  # a cookie may have 4 KB, in base64
MAX_MESSAGE_LENGTH = 300  # a message is in the cookie, too
SEE_OTHER = 303
UNCHANGED = "Nothing has changed."  # by a form that was sent as it was shown
# A browser that goes back to a page with the errors of a form shows that page again.
MAY_BE_SHOWN_AGAIN = {"Cache-Control": "private, no-cache"}
# In place of a path in stored responses: no database stores all characters of paths.
FORMS = "forms"

View = Callable[..., ResponseReturnValue]


class FieldError(RuleError):
    """A rule that refuses a field of a form; if it has choices, the page asks."""

    field = ""
    choices: Mapping[str, str] = {}  # the possible answers, each with its label


@dataclass(frozen=True)
class Form:
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)  # answers to a question

    @classmethod
    def of_request(cls) -> "Form":
        """Return the fields of the request that a page may show again."""
        fields = request.form.to_dict()
        return cls({name: fields[name] for name in fields if name not in UNSEEN})

    @classmethod
    def showing(cls, values: dict[str, str]) -> "Form":
        """Return a form that also sends the shown values, to tell what was changed."""
        shown = {f"{SHOWN}{name}": text for name, text in values.items()}
        return cls(values | shown)

    def __bool__(self) -> bool:
        return bool(self.values or self.errors)


EMPTY = Form()


def is_seen(name: str) -> bool:
    """Return whether people see the field: hidden ones are not theirs."""
    return name not in UNSEEN and not name.startswith((SHOWN, TICK))


def refuse_other_origins() -> None:
    """Raise 400 for a form that a page of another origin sends, even of a sibling."""
    if request.method == "POST" and not _is_of_this_origin():
        raise InvalidRequest(
            "It was sent by a page of another site. Open the page here and try again."
        )


def _is_of_this_origin() -> bool:
    # Browsers send this header only over TLS and to their own machine.
    if (site := request.headers.get("Sec-Fetch-Site")) is not None:
        return site in ("same-origin", "none")
    origin, host = request.headers.get("Origin"), request.headers.get("Host")
    return origin is None or origin.partition("://")[2] == host


def new_idempotency_key() -> str:
    """Return a key for a form, with id and name of the project of its page."""
    caller = current_request().state.caller
    whose = f" {g.project.id} {g.project.name}" if caller else ""
    return randomness.token(KEY_BYTES) + whose


def project_of_page() -> tuple[str, str]:
    """Return id and name of the project whose page has sent the form.

    Both are empty if it does not say: the page of a release before this one.
    """
    _, _, whose = request.form.get(IDEMPOTENCY_KEY, "").partition(" ")
    project_id, _, name = whose.partition(" ")
    return project_id, name


def save_draft(action: str, values: dict[str, str]) -> bool:
    """Fill in the form with that action when its page opens next.

    Return whether the cookie has room for it, and names the project that it is for.
    """
    draft = [action, values]
    size = len(zlib.compress(json.dumps(draft).encode()))  # as Flask writes a cookie
    is_own = project_of_page()[0] in ("", str(session.get(PROJECT)))
    if PROJECT not in session or not is_own or size > MAX_DRAFT_BYTES:
        return False
    if values:
        session[DRAFT] = draft
    return True


def filled_in(form: Form, *actions: str) -> Form:
    """Return the form, or the draft for one of the actions if it is empty."""
    if form or session.get(DRAFT, [""])[0] not in actions:
        return form
    return Form(session.pop(DRAFT)[1])


def sent_again() -> dict[str, str]:
    """Return the fields of a form that was refused, for the page that says so."""
    if request.method != "POST" or not _is_of_this_origin():
        return {}
    try:
        fields = request.form.to_dict()
    except (HTTPException, ErrorResponse):
        return {}
    return {} if KEY in fields or request.files else fields


def is_refusal(error: RuleError) -> bool:
    """Return whether a rule refuses what is filled in, and not who asks or when."""
    return error.code is None or ERRORS[error.code].status in (400, 409)


def text_for_staff(error: RuleError) -> str:
    """Return what a rule says, with the shelter's word for an order."""
    return re.sub(r"\border (?=[0-9])", "reservation ", str(error))


def loads_form(
    schema: FormSchema,
    *,
    form_page: Callable[..., str],
    fields: Mapping[type[RuleError], str] = {},
) -> Callable[[View], View]:
    """Load the form into the view's arguments, or show `form_page` with the errors.

    An error of a rule is shown at its field, which it has itself or which `fields` has
    for its type; otherwise it is a message of the page. `form_page` takes the arguments
    of the route, and the form as `form`.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def respond(**arguments: str | int) -> ResponseReturnValue:
            values, choices = Form.of_request().values, EMPTY.choices
            try:
                return view(**arguments, **schema.load(values))
            except ValidationError as error:
                # What is wrong with an item of a list is shown with its field.
                errors = {
                    name.partition(".")[0]: fault
                    for name, fault in faults_of(error).items()
                }
            except RuleError as error:
                if not is_refusal(error):
                    raise
                if isinstance(error, FieldError):
                    field, choices = error.field, error.choices
                else:
                    found = (fields[x] for x in fields if isinstance(error, x))
                    field = next(found, "")
                errors = {field: text_for_staff(error)} if field else {}
                if not errors:
                    flash(text_for_staff(error), "bad")
            page = form_page(**arguments, form=Form(values, errors, choices))
            return page, 400, MAY_BE_SHOWN_AGAIN

        return respond

    return decorate


class Outcome(NamedTuple):
    """What was done: where it leads to, and the message there, or a page of its own.

    With `facts` about it, the message is added to the project's activity. It has links,
    and a button that takes back what was done; each is a label with a URL, the button
    also with fields of its form. A `draft` is the action of a form, and how it is
    filled in.
    """

    endpoint: str
    message: str
    arguments: dict[str, Any] = {}
    facts: dict[str, Any] | None = None
    links: Sequence[tuple[str, str]] = ()
    undo: tuple[str, str, dict[str, str]] | tuple[str, str] | None = None
    draft: tuple[str, dict[str, str]] | None = None
    page: str | None = None

    def show(self) -> ResponseReturnValue:
        if self.page:
            return self.page
        response = go_to(self.endpoint, self.message, **self.arguments)
        if self.links or self.undo:
            session[STEPS] = {"links": self.links, "undo": self.undo}
        if self.draft:
            save_draft(*self.draft)
        return response

    def dump(self) -> tuple[str, bytes]:
        """Return what the response to the same form needs."""
        steps = {"links": self.links, "undo": self.undo}
        shown = (self.endpoint, self.message, self.arguments, self.draft)
        return orjson.dumps(steps).decode(), orjson.dumps(shown)

    @classmethod
    def load(cls, steps: str, shown: bytes) -> Self:
        """Return what was dumped."""
        endpoint, message, arguments, draft = orjson.loads(shown)
        return cls(endpoint, message, arguments, draft=draft, **orjson.loads(steps))


def idempotent(
    view: Callable[..., Outcome], *, count: Callable[[], None] | None = None
) -> View:
    """Run the view once, however often a browser sends the same form.

    A browser without a script sends it twice at a double click. After an error, the
    form may be sent again. A form with the same key but other arguments is another one.

    The view runs in a transaction, in which nothing can be counted. `count` is called
    before it begins, unless the form was carried out already; it may raise.
    """

    @functools.wraps(view)
    def respond(**arguments: Any) -> ResponseReturnValue:
        key = request.form.get(IDEMPOTENCY_KEY) or randomness.token(KEY_BYTES)
        action = repr((key, view.__name__, sorted(arguments.items())))
        project_id = current_request().state.required_caller.project_id
        digest = sha256(action.encode()).hexdigest()
        attempt = Attempt(project_id, FORMS, digest, b"")
        if count and not StoredResponse.find(attempt):
            count()
        with StoredResponse.atomic(attempt):
            if stored := StoredResponse.find(attempt):
                outcome = Outcome.load(stored.location, bytes(stored.body))
            else:
                outcome = view(**arguments)
                if outcome.facts is not None:
                    slug = current_request().state.required_caller.slug
                    note(slug, outcome.message, outcome.facts)
                StoredResponse.keep(attempt, SEE_OTHER, *outcome.dump())
        return outcome.show()

    return respond


def go_to(
    endpoint: str, message: str = "", kind: str = "good", **arguments: Any
) -> Response:
    return go_to_url(url_for(endpoint, **arguments), message, kind)


def go_to_url(url: str, message: str = "", kind: str = "good") -> Response:
    if message:
        get_flashed_messages()  # drops those that no page has shown
        session.pop(STEPS, None)
        flash(message[:MAX_MESSAGE_LENGTH], kind)
    return redirect(url, SEE_OTHER)
