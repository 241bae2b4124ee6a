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
    begin_deadline,
    end_deadline,
    renew_deadline,
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
    "begin_deadline",
    "count_statement",
    "counters",
    "db",
    "end_deadline",
    "lists",
    "migrator",
    "open_databases",
    "opened_databases",
    "page_statement",
    "renew_deadline",
    "slot",
    "statement",
    "transfer",
    "wait_as",
    "without_waiting",
]
