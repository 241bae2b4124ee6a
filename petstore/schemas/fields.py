"""Kinds of values in bodies and parameters, each with its rule."""

import re
import unicodedata
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields

from petstore.clock import rfc3339

INT64_MAX = 2**63 - 1
# An integer from 0 on, in ASCII digits. It has at most as many digits as INT64_MAX, but
# may be larger.
INTEGER_PATTERN = "0|[1-9][0-9]{0,18}"
MAX_NAME_LENGTH = 200

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Letters that nobody sees, beside white space and format characters.
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"


def name_error(name: str) -> str | None:
    """Return what is wrong with a name for people; None if nothing is."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return f"must have 1 to {MAX_NAME_LENGTH} characters"
    if _CONTROL.search(name):
        return "must not contain line breaks or other control characters"
    return None if is_seen(name) else "must have a character that can be seen"


def is_seen(text: str) -> bool:
    """Return whether people see one of its characters."""
    return any(
        not (each.isspace() or each in _FILLERS or unicodedata.category(each) == "Cf")
        for each in text
    )


class Stored(fields.Field[Any]):
    """A field whose values are dumped as they are stored, and loaded by one rule."""

    def __init__(
        self,
        described: dict[str, Any],
        rule: str,
        metadata: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        messages: Any = {"invalid": rule, "null": rule, "required": "is required"}
        metadata = described | (metadata or {})
        super().__init__(metadata=metadata, error_messages=messages, **options)

    def _serialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return value


class Integer(Stored, fields.Integer):
    """An int64 in a body: 5, or 5.0 and 0.5e1 as in JSON Schema, but not true.

    In a URL, a form or a file, it is `0`, or ASCII digits without a leading zero.
    """

    is_text = False

    def __init__(
        self, lowest: int = 0, highest: int = INT64_MAX, **options: Any
    ) -> None:
        self._bounds = lowest, highest
        example = max(lowest, 1)  # as an id, the first of a new database
        described = {"minimum": lowest, "maximum": highest, "example": example}
        rule = f"must be an integer from {lowest} to {highest}"
        super().__init__(described, rule, **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        number = self._integer(value)
        lowest, highest = self._bounds
        if number is None or not lowest <= number <= highest:
            raise self.make_error("invalid")
        return number

    def _integer(self, value: Any) -> int | None:
        if self.is_text:
            return int(value) if re.fullmatch(INTEGER_PATTERN, value) else None
        # Comparisons are exact, while arithmetic would round 1e-999999999 to 0. The
        # bounds are compared first, since int(1e999999999) would take all memory.
        if (
            isinstance(value, Decimal)
            and -INT64_MAX <= value <= INT64_MAX
            and value == value.to_integral_value()
        ):
            return int(value)
        return value if type(value) is int else None


class UrlInteger(Integer):
    """An int64 in a URL."""

    is_text = True


class Name(Stored, fields.String):
    """A name for people, stored exactly as it is sent."""

    def __init__(self, **options: Any) -> None:
        described = {
            "minLength": 1,
            "maxLength": MAX_NAME_LENGTH,
            # Generated clients compile it in ten languages, which all understand this.
            "pattern": r"\S",
        }
        super().__init__(described, "must be a string", **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        if error := name_error(value):
            raise ValidationError(error)
        return value


class Choice(Stored, fields.String):
    """One of a few values, which a subclass or the first argument lists."""

    choices: tuple[str, ...]

    def __init__(self, choices: tuple[str, ...] = (), **options: Any) -> None:
        self.choices = choices or self.choices
        rule = f"must be one of {', '.join(self.choices)}"
        described = {"enum": list(self.choices), "example": self.choices[0]}
        super().__init__(described, rule, **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        if value not in self.choices:
            raise self.make_error("invalid")
        return str(value)


class Instant(fields.String):
    """An instant in RFC 3339, in UTC, dumped from milliseconds."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> str:
        return rfc3339(value)
