"""The result of a check: everything is well, or what to do."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A status and a sentence about one thing."""

    check: str
    status: str  # ok, warning or wrong
    message: str

    @classmethod
    def ok(cls, check: str, message: str) -> Self:
        """Everything is well."""
        return cls(check, "ok", message)

    @classmethod
    def warning(cls, check: str, message: str) -> Self:
        """It may be intended; the message says when it is not."""
        return cls(check, "warning", message)

    @classmethod
    def wrong(cls, check: str, message: str) -> Self:
        """Somebody has to act; the message says what to do."""
        return cls(check, "wrong", message)

    @property
    def is_wrong(self) -> bool:
        """Whether somebody has to act."""
        return self.status == "wrong"
