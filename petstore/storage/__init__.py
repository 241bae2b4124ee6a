"""SQLite and PostgreSQL behind Peewee, migrations, and copies of the data.

The rest of the service uses only what is named here.
"""

from petstore.storage import copies as copies
from petstore.storage import lists as lists
from petstore.storage import migrator as migrator
from petstore.storage.database import BaseModel as BaseModel
from petstore.storage.database import CounterModel as CounterModel
from petstore.storage.database import close_connections as close_connections
from petstore.storage.database import counters as counters
from petstore.storage.database import db as db
from petstore.storage.database import open_databases as open_databases
from petstore.storage.database import opened_databases as opened_databases
from petstore.storage.engine import Busy as Busy
from petstore.storage.engine import Statement as Statement
from petstore.storage.engine import begin_deadline as begin_deadline
from petstore.storage.engine import end_deadline as end_deadline
from petstore.storage.engine import renew_deadline as renew_deadline
from petstore.storage.engine import seconds_left as seconds_left
from petstore.storage.engine import slot as slot
from petstore.storage.engine import statement as statement
from petstore.storage.lists import page_statements as page_statements
