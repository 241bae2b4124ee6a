"""SQLite and PostgreSQL behind Peewee, migrations, and copies of the data.

The rest of the service uses only what is named here.
"""

from petstore.storage import backup, migrator, transfer
from petstore.storage.database import (
    BaseModel,
    CounterModel,
    counters,
    data,
    open_databases,
    opened_databases,
)
from petstore.storage.engines.connection import Busy
from petstore.storage.queries import Statement, slot, statement
from petstore.storage.sweeping import Sweep

__all__ = [
    "BaseModel",
    "Busy",
    "CounterModel",
    "Statement",
    "Sweep",
    "backup",
    "counters",
    "data",
    "migrator",
    "open_databases",
    "opened_databases",
    "slot",
    "statement",
    "transfer",
]
