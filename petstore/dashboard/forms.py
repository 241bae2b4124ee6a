"""Forms: what was typed, checked by a schema, and shown again when it is at fault."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from flask import Response, make_response, request
from marshmallow import Schema, ValidationError

from petstore.dashboard.csrf import FIELD

View = Callable[..., str | Response]


@dataclass(frozen=True)
class Form:
    """The texts of a form's fields, and what is wrong with them, by field."""

    values: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    @classmethod
    def sent(cls) -> "Form":
        """What the request carries; a field left empty counts as not sent."""
        typed = request.form.to_dict()
        return cls({name: typed[name] for name in typed if name != FIELD})

    def with_faults(self, faults: dict[str, str]) -> "Form":
        """The same texts, to be corrected."""
        return Form(self.values, faults)


EMPTY = Form()


def takes(schema: Schema, *, again: View) -> Callable[[View], View]:
    """Load the form into the view's arguments, or show the page `again` with faults.

    `again` takes the arguments of the address, and the form as `form`.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def answer(**arguments: str | int) -> str | Response:
            form = Form.sent()
            filled = {name: text for name, text in form.values.items() if text.strip()}
            try:
                members = schema.load(filled)
            except ValidationError as error:
                faults = {name: texts[0] for name, texts in error.messages.items()}
                page = again(**arguments, form=form.with_faults(faults))
                return make_response(page, 400)
            return view(**arguments, **members)

        return answer

    return decorate
