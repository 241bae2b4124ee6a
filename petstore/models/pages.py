"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Expression, Field, Query, Tuple, Value

from petstore.database import data, is_sqlite
from petstore.statements import Statement, slot


def page_by(key: Field, columns: tuple[Field, ...], *filters: Field) -> Statement:
    """Rows of a `project` beyond `after` in the order of the key, at most `limit`.

    The statement takes a value for each of the filters, too. An index has to hold the
    project, the filters and the key, in this order.
    """
    fixed = (key.model.project, *filters)

    def write() -> Query:
        beyond = _beyond_in_sqlite if is_sqlite(data.obj) else _beyond_in_postgresql
        values = [slot(field.name) for field in fixed]
        return (
            key.model.select(*columns)
            .where(*beyond([*fixed, key], [*values, slot("after")]))
            .order_by(*fixed, key)
            .limit(slot("limit"))
        )

    return Statement(data, write)


def _beyond_in_sqlite(fields: list[Field], values: list[Value]) -> list[Expression]:
    *fixed, key = fields
    equal = [field == value for field, value in zip(fixed, values, strict=False)]
    return [*equal, key > values[-1]]


def _beyond_in_postgresql(fields: list[Field], values: list[Value]) -> list[Expression]:
    # One range of the index. Told what is equal, PostgreSQL may take the order from
    # another index, of the ids alone, and read through the rows of other projects.
    return [
        Tuple(*fields) > Tuple(*values),
        Tuple(*fields[:-1]) <= Tuple(*values[:-1]),
    ]
