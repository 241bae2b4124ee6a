"""Tables and their rules.

`Pet`, `Order`, `Category`, `Caller` and `Host` are read on the hottest paths. They are
named tuples, and a table class beside each is for queries alone: building a Peewee
model for every row would make a list of 20 animals 15 per cent slower. The other nouns
are Peewee models.
"""


class RuleError(Exception):
    """A rule does not allow what was asked for. The text tells the caller why."""

    # The code of the error in `petstore.errors.STATUSES`, if a request can meet it.
    code: str | None = None
    text = ""  # with `{}` for each value that the error is raised with

    def __init__(self, *values: object) -> None:
        super().__init__(self.text.format(*values))


class Conflict(RuleError):
    """The current state does not allow it; a retry gets the same answer."""
