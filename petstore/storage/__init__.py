"""SQLite and PostgreSQL behind Peewee, migrations, and copies of the data.

The rest of the service uses only what is named here.
"""

from petstore.storage import backup, lists, migrator, transfer
from petstore.storage.database import (
    BaseModel,
    CounterModel,
    counters,
    db,
    open_databases,
    opened_databases,
)
from petstore.storage.engines.waiting import (
    Busy,
    ClientGone,
    wait_as,
    without_waiting,
)
from petstore.storage.paging import count_statement, page_statement
from petstore.storage.queries import Statement, slot, statement
from petstore.storage.sweeping import Sweep

__all__ = [
    "BaseModel",
    "Busy",
    "ClientGone",
    "CounterModel",
    "Statement",
    "Sweep",
    "backup",
    "count_statement",
    "counters",
    "db",
    "lists",
    "migrator",
    "open_databases",
    "opened_databases",
    "page_statement",
    "slot",
    "statement",
    "transfer",
    "wait_as",
    "without_waiting",
]
