"""Tables and their rules.

`Pet`, `Order`, `Category`, `Caller` and `Host` are read on the hottest paths. They are
named tuples, and a table class beside each is for queries alone: building a Peewee
model for every row would make a list of 20 animals 15 per cent slower. The other nouns
are Peewee models.
"""


class Refused(Exception):
    """A rule does not allow it. The text tells the caller why."""


class Conflict(Refused):
    """The current state does not allow it; a retry gets the same answer."""
