"""Without two indexes of animals: by id, like a wider one, and by name.

The version before, which may still run beside this one, needs neither. It searches
names more slowly.
"""


def up(migrator, db):
    # In a transaction of its own: for this, PostgreSQL locks the table for a moment
    # even against reading.
    for name in ("pet_project_id_id", "pet_project_id_lower_name_id"):
        db.execute_sql(f'DROP INDEX "{name}"')
