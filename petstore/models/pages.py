"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Expression, Field, Query, Tuple, Value

from petstore.database import data, is_sqlite
from petstore.statements import Statement, slot


def page_by(key: Field, columns: tuple[Field, ...], *filters: Field) -> Statement:
    """Rows of a `project` beyond `after` in the order of the key, at most `limit`.

    Each filter is a column, its value is given under its name; an index must begin
    with the project and the filters and end with the key.
    """
    same = (key.model.project, *filters)
    values = tuple(slot(column.name) for column in same)

    def write() -> Query:
        follows = _follows_by_column if is_sqlite(data.obj) else _follows_by_row
        return (
            key.model.select(*columns)
            .where(follows(same, values, key))
            .order_by(*same, key)
            .limit(slot("limit"))
        )

    return Statement(data, write)


def _follows_by_column(
    same: tuple[Field, ...], values: tuple[Value, ...], key: Field
) -> Expression:
    follows = key > slot("after")
    for column, value in zip(same, values, strict=True):
        follows &= column == value
    return follows


def _follows_by_row(
    same: tuple[Field, ...], values: tuple[Value, ...], key: Field
) -> Expression:
    # Asked for equal columns and a greater key, PostgreSQL may walk along the keys
    # alone, past any number of rows of other projects; whole rows are in the order
    # of the one index. SQLite does the opposite.
    follows = Tuple(*same, key) > Tuple(*values, slot("after"))
    return follows & (Tuple(*same) <= Tuple(*values))
