"""What was found of one thing: all is well, or what to do."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about one thing; only what is wrong needs somebody to act."""

    check: str
    status: str  # ok, warning or wrong
    message: str

    @classmethod
    def ok(cls, check: str, message: str) -> Self:
        """All is well."""
        return cls(check, "ok", message)

    @classmethod
    def warning(cls, check: str, message: str) -> Self:
        """It may be meant so: the sentence says when it is not."""
        return cls(check, "warning", message)

    @classmethod
    def wrong(cls, check: str, message: str) -> Self:
        """The sentence says what to do."""
        return cls(check, "wrong", message)

    @property
    def is_wrong(self) -> bool:
        """Whether somebody has to act."""
        return self.status == "wrong"
