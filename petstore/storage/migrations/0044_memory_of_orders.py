"""What an order remembers: its animal's name, and who placed and closed it.

The columns may be null: release 1.2.0, which may run beside this one, leaves them so.
"""


def up(migrator, db):
    for name in ("pet_name", "pet_folded", "placed_by", "closed_by"):
        db.execute_sql(f"ALTER TABLE pet_order ADD COLUMN {name} TEXT")
