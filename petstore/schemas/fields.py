"""Kinds of values in bodies and parameters, each with its rule."""

import re
from decimal import Decimal
from inspect import isroutine
from typing import Any

from marshmallow import RAISE, Schema, fields, validate

from petstore.clock import rfc3339
from petstore.models.names import (
    LENGTH_ERROR,
    MAX_NAME_LENGTH,
    NAME_ERROR,
    NAME_PATTERN,
)

INT64_MAX = 2**63 - 1
# An integer from 0 on, in ASCII digits; the longest of them exceed INT64_MAX.
INTEGER_PATTERN = "0|[1-9][0-9]{0,18}"


class StrictSchema(Schema):
    """A schema that rejects unknown members, and consists of fields alone."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse methods, such as marshmallow's hooks: `load` would not call them."""
        super().__init_subclass__(**options)
        if methods := [name for name in vars(cls) if isroutine(vars(cls)[name])]:
            raise TypeError(f"{cls.__name__} has methods: {', '.join(methods)}")

    class Meta:
        unknown = RAISE

    error_messages = {"unknown": "is unknown"}
    plural = ""  # the name of a list of these, if the description has one
    needs_member = False  # whether one must be given, though none is required


class Integer(fields.Integer):
    """An int64 in a body: 5, and like in JSON Schema 5.0 and 0.5e1, but not true."""

    def __init__(
        self, lowest: int = 0, highest: int = INT64_MAX, **options: Any
    ) -> None:
        error = f"must be an integer from {lowest} to {highest}"
        super().__init__(
            validate=validate.Range(lowest, highest, error=error),
            error_messages=_error_messages(error),
            **options,
        )

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        number = self._integer(value)
        if number is None:
            raise self.make_error("invalid")
        return number

    def _integer(self, value: Any) -> int | None:
        # Comparing is exact, while arithmetic would round 1e-999999999 to 0. The bounds
        # come first, so that 1e999999999 is not written out.
        if (
            isinstance(value, Decimal)
            and -INT64_MAX <= value <= INT64_MAX
            and value == value.to_integral_value()
        ):
            return int(value)
        return value if type(value) is int else None


class UrlInteger(Integer):
    """An int64 in a URL: `0`, or ASCII digits without a leading zero."""

    def _integer(self, value: str) -> int | None:
        return int(value) if re.fullmatch(INTEGER_PATTERN, value) else None


class Name(fields.String):
    """A name for people, stored exactly as it is sent."""

    def __init__(self, metadata: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(
            metadata={"pattern": f"^{NAME_PATTERN}$"} | (metadata or {}),
            validate=[
                validate.Length(1, MAX_NAME_LENGTH, error=LENGTH_ERROR),
                # Unlike in JSON Schema, $ would accept a line feed at the end.
                validate.Regexp(rf"{NAME_PATTERN}\Z", error=NAME_ERROR),
            ],
            error_messages=_error_messages("must be a string"),
            **options,
        )


class Choice(fields.String):
    """One of a few values, which a subclass or the first argument lists."""

    choices: tuple[str, ...]

    def __init__(self, choices: tuple[str, ...] = (), **options: Any) -> None:
        self.choices = choices or self.choices
        error = f"must be one of {', '.join(self.choices)}"
        super().__init__(
            validate=validate.OneOf(self.choices, error=error),
            error_messages=_error_messages(error),
            **options,
        )


class NumberOrName(fields.Field[int | str]):
    """What somebody types to name a category: digits are its number."""

    def _deserialize(self, value: str, *_: Any, **__: Any) -> int | str:
        text = value.strip()
        digits = text.removeprefix("#")
        if digits.isascii() and digits.isdecimal():
            return UrlInteger().deserialize(digits)
        return Name().deserialize(text)


class Words(fields.Field[tuple[str, ...]]):
    """The words in a field of a form, with white space or commas between them."""

    def _deserialize(self, value: str, *_: Any, **__: Any) -> tuple[str, ...]:
        return tuple(re.findall(r"[^\s,]+", value))


class Instant(fields.String):
    """An instant in RFC 3339, in UTC, dumped from milliseconds."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> str:
        return rfc3339(value)


def _error_messages(invalid: str) -> dict[str, Any]:
    return {"invalid": invalid, "null": invalid, "required": "is required"}
