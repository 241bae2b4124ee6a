"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Field, Select

from petstore.storage.database import db
from petstore.storage.engine import Statement, slot


def page_statement(
    key: Field, columns: tuple[Field, ...], *filters: Field
) -> Statement:
    """Build a query for the rows of a `project` after a key, at most `limit`.

    It takes `project`, `after`, `limit` and a value for each filter, under the name of
    its column. It needs an index on the project, the filters and the key.
    """
    return Statement(db, lambda: _page(key, columns, filters))


def _page(key: Field, columns: tuple[Field, ...], filters: tuple[Field, ...]) -> Select:
    equal = (key.model.project, *filters)
    values = [(column, slot(column.name)) for column in equal]
    query: Select = (
        key.model.select(*columns)
        .where(db.along_index(values, key > slot("after")))
        .order_by(*equal, key)
        .limit(slot("limit"))
    )
    return query
