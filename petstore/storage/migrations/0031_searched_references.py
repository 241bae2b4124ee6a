"""An index of the orders whose references are not folded yet."""


def up(migrator, db):
    db.execute_sql(
        'CREATE INDEX "pet_order_id" ON "pet_order" ("id") WHERE "folded" IS NULL'
    )
