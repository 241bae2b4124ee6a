"""Tables and their rules.

Each noun is a Peewee model. Where many rows are read, or often, they are named tuples
of the columns that `columns` names: building a Peewee model for every row would make a
list of 20 animals 15 per cent slower.
"""

from petstore.errors import ERRORS


class RuleError(Exception):
    """A rule does not allow what was asked for. The text tells the caller why."""

    code: str | None = None  # of `petstore.errors.ERRORS`, if a request can meet it
    # With `{}` for each value that the error is raised with; if empty, the message of
    # the code.
    text = ""
    field: str | None = None  # of a form, that is at fault

    def __init__(self, *values: object) -> None:
        text = self.text or (ERRORS[self.code].message if self.code else "")
        super().__init__(text.format(*values))


class NotFound(RuleError):
    """The project has nothing of this kind with that id."""

    code = "not_found"
    text = "There is no {} {}."


class Conflict(RuleError):
    """The current state does not allow it; a retry gets the same answer."""
