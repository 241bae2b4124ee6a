"""Forms: protected against CSRF, loaded by a schema, shown again with their errors."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any

from flask import Flask, current_app, request, session
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf, validate_csrf
from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict
from werkzeug.formparser import FormDataParser
from wtforms import ValidationError as CsrfError

from petstore import randomness
from petstore.dashboard import kept_forms, sessions
from petstore.dashboard.kept_forms import CSRF_TOKEN, ONCE
from petstore.errors import InvalidRequest
from petstore.schemas.fields import StrictSchema
from petstore.schemas.loading import load
from petstore.web.application import (
    FORM,
    MAX_PARAMETERS,
    FormParser,
    current_request,
    limiter_of,
)

View = Callable[..., ResponseReturnValue]


@dataclass(frozen=True)
class Form:
    """The texts of a form's fields, and an error for each field at fault."""

    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_request(cls) -> "Form":
        """Return the form that the request contains."""
        return cls(kept_forms.sent_fields())

    def __bool__(self) -> bool:
        """Return whether anything is filled in, or at fault."""
        return bool(self.values or self.errors)

    def with_errors(self, errors: dict[str, str]) -> "Form":
        """Return the same texts with errors, to be corrected."""
        return Form(self.values, errors)


EMPTY = Form()


def init_app(app: Flask) -> None:
    """Let templates add a CSRF token to each form; it lives as long as the session."""
    app.config["WTF_CSRF_TIME_LIMIT"] = None
    app.jinja_env.globals[CSRF_TOKEN] = generate_csrf
    app.jinja_env.globals[ONCE] = lambda: randomness.token(9)


def filled_in(form: Form, action: str) -> Form:
    """Return the form, or what was kept for its action if it is empty."""
    return form or Form(kept_forms.take(action))


def loads_form(
    schema: StrictSchema, *, form_page: Callable[..., str]
) -> Callable[[View], View]:
    """Load the form into the view's arguments, or show `form_page` with the errors.

    An empty field counts as missing. `form_page` takes the arguments of the route, and
    the form as `form`.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def respond(**arguments: str | int) -> ResponseReturnValue:
            form = Form.of_request()
            filled = {name: text for name, text in form.values.items() if text.strip()}
            try:
                members = load(schema, filled)
            except ValidationError as error:
                messages = error.messages_dict
                errors = {name: texts[0] for name, texts in messages.items()}
                return form_page(**arguments, form=form.with_errors(errors)), 400
            return view(**arguments, **members)

        return respond

    return decorate


class UploadParser(FormParser):
    """Parses multipart forms too; their files stay in memory, since they are small."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"stream_factory": lambda *_, **__: BytesIO()})

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, Any]]:
        """Return the rest of the stream, the fields and the files."""
        parser = FormParser if mimetype == FORM else FormDataParser
        return parser.parse(self, stream, mimetype, content_length, options)


def take_files() -> None:
    """Let the form of this request be multipart, with at most MAX_PARAMETERS parts."""
    current_request().form_data_parser_class = UploadParser
    current_request().max_form_parts = MAX_PARAMETERS


def check_csrf() -> None:
    """Raise 400 for a form that does not come from a page of this session."""
    if request.method != "POST":
        return
    try:
        validate_csrf(request.form.get(CSRF_TOKEN))
    except CsrfError:
        raise InvalidRequest(
            "This form was sent before, or its page is out of date. "
            "Open the page anew and try again."
        ) from None


def count_request() -> None:
    """Count a form as a request of the project's plan; raises 429 if it is refused."""
    if request.method != "POST":
        return
    state, limiter = current_request().state, limiter_of(current_app)
    state.decision = decision = limiter.count_form(state.required_caller)
    if not decision.is_granted:
        plan = state.project.plan.capitalize()
        reason = f"{plan} allows {decision.tightest.allowance}"
        raise sessions.too_many(decision, reason)


def renew_csrf() -> None:
    """Invalidate the forms of this session, so that resending one does nothing."""
    session.pop(CSRF_TOKEN, None)
