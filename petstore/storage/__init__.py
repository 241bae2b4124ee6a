"""SQLite and PostgreSQL behind Peewee, migrations, and copies of the data.

The rest of the service uses only what is named here.
"""

from petstore.storage import copies, lists, migrator
from petstore.storage.database import (
    BaseModel,
    CounterModel,
    close_connections,
    counters,
    db,
    open_databases,
    opened_databases,
)
from petstore.storage.engine import (
    Busy,
    Statement,
    begin_deadline,
    end_deadline,
    renew_deadline,
    seconds_left,
    slot,
    statement,
)
from petstore.storage.lists import page_statement

__all__ = [
    "BaseModel",
    "Busy",
    "CounterModel",
    "Statement",
    "begin_deadline",
    "close_connections",
    "copies",
    "counters",
    "db",
    "end_deadline",
    "lists",
    "migrator",
    "open_databases",
    "opened_databases",
    "page_statement",
    "renew_deadline",
    "seconds_left",
    "slot",
    "statement",
]
