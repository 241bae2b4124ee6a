"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Expression, Field, Query

from petstore.database import data
from petstore.statements import Statement, slot


def page_by(key: Field, columns: tuple[Field, ...], *filters: Expression) -> Statement:
    """Rows of a `project` beyond `after` in the order of the key, at most `limit`."""

    def write() -> Query:
        return (
            key.model.select(*columns)
            .where(key.model.project == slot("project"), key > slot("after"), *filters)
            .order_by(key)
            .limit(slot("limit"))
        )

    return Statement(data, write)
