"""What the events of a project are about; all were about the same before."""


def up(migrator, db):
    # Release 1.1.0, which may still run, adds rows without it.
    db.execute_sql(
        'ALTER TABLE "activity" ADD COLUMN "topic" TEXT NOT NULL DEFAULT \'settings\''
    )
