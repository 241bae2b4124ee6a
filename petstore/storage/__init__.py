"""SQLite and PostgreSQL behind Peewee.

The rest of the service uses the names below. What handles the databases as a whole uses
`database` and `migrator`, too.
"""

from petstore.storage.engine import NEVER as NEVER
from petstore.storage.engine import BaseModel as BaseModel
from petstore.storage.engine import Busy as Busy
from petstore.storage.engine import CompiledQuery as CompiledQuery
from petstore.storage.engine import CounterModel as CounterModel
from petstore.storage.engine import NumberLocked as NumberLocked
from petstore.storage.engine import Row as Row
from petstore.storage.engine import close_connections as close_connections
from petstore.storage.engine import compiled as compiled
from petstore.storage.engine import counters as counters
from petstore.storage.engine import db as db
from petstore.storage.engine import deadline as deadline
from petstore.storage.engine import placeholder as placeholder
from petstore.storage.engine import row_maker as row_maker
from petstore.storage.engine import seconds_left as seconds_left
from petstore.storage.engine import suppress_outage as suppress_outage
