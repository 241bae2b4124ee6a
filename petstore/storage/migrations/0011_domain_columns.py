"""Nothing: it renamed columns, which release 1.0.0 cannot live with; see 0026."""


def up(migrator, db):
    pass
