"""The kinds of values that bodies and parameters hold, each with its rule."""

import re
from decimal import Decimal
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from petstore.clock import rfc3339

INT64_MAX = 2**63 - 1
MAX_NAME_LENGTH = 200

_CONTROL = r"\u0000-\u001f\u007f-\u009f"
_BLANK = r" \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Blanks, then a first character that is none, then anything: read once, left to right.
# Python's $ alone, unlike JSON Schema's, would let a line feed follow.
_LEGIBLE = rf"^[{_BLANK}]*[^{_BLANK}{_CONTROL}][^{_CONTROL}]*(?!\n)$"
_LEGIBLE_FAULT = "must not be blank and must not contain control characters"
_LENGTH_FAULT = f"must have 1 to {MAX_NAME_LENGTH} characters"


def _int64_pattern() -> str:
    # Numbers of 19 digits are below the maximum when they share a beginning with it
    # and have a smaller digit next.
    top = str(INT64_MAX)
    smaller = [
        f"{top[:place]}[{int(place == 0)}-{int(digit) - 1}][0-9]{{{18 - place}}}"
        for place, digit in enumerate(top)
        if int(digit) > int(place == 0)
    ]
    return "|".join(["0", "[1-9][0-9]{0,17}", *smaller, top])


# An int64 from 0 on in its one spelling, ASCII only.
INT64_PATTERN = _int64_pattern()
_INT64 = re.compile(INT64_PATTERN)


class StrictSchema(Schema):
    """A schema that refuses what it does not know."""

    class Meta:
        unknown = RAISE

    error_messages = {"unknown": "is not known here"}


class Integer(fields.Integer):
    """An int64 in a body: 5, and as JSON Schema has it 5.0 and 0.5e1, but not true."""

    def __init__(
        self, lowest: int = 0, highest: int = INT64_MAX, **options: Any
    ) -> None:
        fault = f"must be an integer from {lowest} to {highest}"
        super().__init__(
            validate=validate.Range(lowest, highest, error=fault),
            error_messages={"invalid": fault, "null": fault, "required": "is required"},
            **options,
        )

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        number = self._integer(value)
        if number is None:
            raise self.make_error("invalid")
        return number

    def _integer(self, value: Any) -> int | None:
        # Comparing is exact, where arithmetic rounds 1e-999999999 to 0; and the bound
        # keeps 1e999999999 from being written out.
        if (
            isinstance(value, Decimal)
            and -INT64_MAX <= value <= INT64_MAX
            and value == value.to_integral_value()
        ):
            return int(value)
        return value if type(value) is int else None


class UrlInteger(Integer):
    """An int64 in a URL: `0`, or ASCII digits that do not begin with it."""

    def _integer(self, value: str) -> int | None:
        return url_integer(value)


class Name(fields.String):
    """A name for people, kept exactly as sent."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            validate=[
                validate.Length(1, MAX_NAME_LENGTH, error=_LENGTH_FAULT),
                validate.Regexp(_LEGIBLE, error=_LEGIBLE_FAULT),
                _be_unicode,
            ],
            error_messages=_string_faults("must be a string"),
            **options,
        )


class Choice(fields.String):
    """One of a few words."""

    def __init__(self, words: tuple[str, ...], **options: Any) -> None:
        fault = f"must be one of {', '.join(words)}"
        super().__init__(
            validate=validate.OneOf(words, error=fault),
            error_messages=_string_faults(fault),
            **options,
        )


class Instant(fields.String):
    """An instant as RFC 3339 has it, in UTC, from milliseconds."""

    def _serialize(self, value: int, *_: Any, **__: Any) -> str:
        return self.written(value)

    def written(self, instant_ms: int) -> str:
        """The text of an instant."""
        return rfc3339(instant_ms)


def _string_faults(fault: str) -> dict[str, str]:
    return {"invalid": fault, "null": fault, "required": "is required"}


def name_fault(name: str) -> str | None:
    """What is wrong with a name: 1 to 200 characters, not all blank, none control."""
    try:
        Name().deserialize(name)
    except ValidationError as error:
        return error.messages[0]
    return None


def url_integer(text: str) -> int | None:
    """The int64 that a text in a URL stands for."""
    return int(text) if _INT64.fullmatch(text) else None


def _be_unicode(name: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise ValidationError("must be valid Unicode")
