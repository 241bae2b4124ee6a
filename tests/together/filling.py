"""Fill every table with as many rows as a test needs."""

from peewee import (
    BigAutoField,
    BlobField,
    BooleanField,
    Field,
    ForeignKeyField,
    TextField,
    sort_models,
)

from petstore.clock import MS_PER_DAY
from petstore.extensions.operations.copies import continue_ids_after
from petstore.models.projects import Project
from petstore.models.searching import FOLDING
from petstore.storage import BaseModel, CounterModel, counters, db
from tests.harness.clocks import START_MS

# SQL for a column of the row with the number n, where its type does not tell enough.
# Columns that may be null, and are not here, are.
COLUMNS = {
    "project.plan": "'business'",
    "project.rows_held": "7",
    "api_key.retires_ms": f"{START_MS} - n",
    "category_merge.project": "n",
    "domain_token.project": "n",
    "domain.project": "n",
    "domain.verified_ms": "1",
    "domain.looked_ms": f"{START_MS} - n % 60000",
    "domain.certificate_issuer": "'CA'",
    "domain.certificate_expires_ms": f"{START_MS} + n",
    "pet.status": "CASE n % 4 WHEN 0 THEN 'sold' ELSE 'available' END",
    "pet.category_id": "n % 20",
    "pet.folded": f"'{FOLDING}x' || n",
    "pet_order.status": "CASE n % 4 WHEN 0 THEN 'placed' ELSE 'completed' END",
    "pet_order.folded": f"'{FOLDING}'",
    "failed_request.at_ms": f"{START_MS}",
    "key_usage.day": f"{START_MS // MS_PER_DAY}",
    "reply.created_ms": f"{START_MS}",
    "activity.at_ms": f"{START_MS}",
    "activity.facts": "'{}'",
    "activity.topic": "'settings'",
    "session.ends_ms": f"{START_MS} + 1000000000 + n",
    "upload.session": "'x' || n",
    "upload.at_ms": f"{START_MS} + 1000000000 + n",
    "window_counter.ends_ms": f"{START_MS + MS_PER_DAY} + n",
    "window_counter.used": "1",
}


def fill(project: Project, first: int, last: int) -> None:
    """Insert rows with these numbers in every table; the even ones are the project's.

    A column of a new table may need a line in COLUMNS.
    """
    owner = f"CASE n % 2 WHEN 0 THEN {project.id} ELSE n END"
    for database, base in ((db, BaseModel), (counters, CounterModel)):
        for table in sort_models(base.__subclasses__()):
            name, fields = table._meta.table_name, table._meta.sorted_fields
            values = {
                field.column_name: COLUMNS.get(f"{name}.{field.name}")
                or _value(field, owner)
                for field in fields
                if not field.null or f"{name}.{field.name}" in COLUMNS
            }
            sql = (
                f"WITH RECURSIVE n (n) AS (SELECT {first}"
                f" UNION ALL SELECT n + 1 FROM n WHERE n < {last})"
                f' INSERT INTO "{name}" ({", ".join(values)})'
                f" SELECT {', '.join(values.values())} FROM n"
            )
            # Psycopg takes a single percent sign for a placeholder.
            database.execute_sql(sql if database.file else sql.replace("%", "%%"))
            if isinstance(table._meta.primary_key, BigAutoField):
                continue_ids_after(name, last, database)


def _value(field: Field, owner: str) -> str:
    if isinstance(field, ForeignKeyField) and field.rel_model is Project:
        return owner
    if isinstance(field, BlobField):
        return "''" if db.file else "CAST('' AS bytea)"
    if isinstance(field, BooleanField):
        return "1 = 0"
    return "'x' || n" if isinstance(field, TextField) else "n"
