"""Files that wait for an answer, one for a session."""

from peewee import BigIntegerField, BlobField, ForeignKeyField, Model, TextField


def up(migrator, db):
    class Session(Model):
        digest = TextField(primary_key=True)

    class Upload(Model):
        session = ForeignKeyField(Session, primary_key=True, on_delete="CASCADE")
        name = TextField()
        content = BlobField()
        at_ms = BigIntegerField(index=True)

    with db.bind_ctx([Session, Upload]):
        db.create_tables([Upload], safe=False)
