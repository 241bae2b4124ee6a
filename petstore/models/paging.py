"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Expression, Field, Query, Tuple, Value

from petstore.database import data, is_sqlite
from petstore.statements import Statement, slot


def page_statement(
    key: Field, columns: tuple[Field, ...], *filters: Field
) -> Statement:
    """Build a query for the rows of a `project` after a key, at most `limit`.

    It takes `project`, `after`, `limit` and a value for each filter, under the name of
    its column. It needs an index on the project, the filters and the key.
    """
    equal = (key.model.project, *filters)
    values = tuple(slot(column.name) for column in equal)

    def build() -> Query:
        is_after = _is_after_by_column if is_sqlite(data.obj) else _is_after_by_row
        query: Query = (
            key.model.select(*columns)
            .where(is_after(equal, values, key))
            .order_by(*equal, key)
            .limit(slot("limit"))
        )
        return query

    return Statement(data, build)


def _is_after_by_column(
    equal: tuple[Field, ...], values: tuple[Value, ...], key: Field
) -> Expression:
    condition: Expression = key > slot("after")
    for column, value in zip(equal, values, strict=True):
        condition &= column == value
    return condition


def _is_after_by_row(
    equal: tuple[Field, ...], values: tuple[Value, ...], key: Field
) -> Expression:
    # For equal columns and a greater key, PostgreSQL may scan the primary key and skip
    # any number of rows of other projects. Whole rows can only be compared along the
    # right index. SQLite does the opposite.
    condition: Expression = Tuple(*equal, key) > Tuple(*values, slot("after"))
    return condition & (Tuple(*equal) <= Tuple(*values))
