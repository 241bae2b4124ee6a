"""A row for each window.

The table `counter` stays for release 1.2.0, which may run beside this one; the release
after this one drops it.
"""

from peewee import BigIntegerField, Check, Model, SqliteDatabase, TextField


def up(migrator, db):
    class WindowCounter(Model):
        key = TextField(primary_key=True)
        ends_ms = BigIntegerField(index=True)
        used = BigIntegerField()
        most = BigIntegerField()

        class Meta:
            database = db
            legacy_table_names = False
            constraints = [Check("used <= most")]
            # SQLite then writes one page for all windows of a request.
            without_rowid = isinstance(db, SqliteDatabase)

    db.create_tables([WindowCounter])
