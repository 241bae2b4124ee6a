"""Pages of a project's rows: from any id on, at a cost that does not grow."""

from peewee import Field, Query

from petstore.storage import Statement, data, slot


def page_statement(
    key: Field, columns: tuple[Field, ...], *filters: Field
) -> Statement:
    """Build a query for the rows of a `project` after a key, at most `limit`.

    It takes `project`, `after`, `limit` and a value for each filter, under the name of
    its column. It needs an index on the project, the filters and the key.
    """
    equal = (key.model.project, *filters)
    values = [(column, slot(column.name)) for column in equal]

    def build() -> Query:
        query: Query = (
            key.model.select(*columns)
            .where(data.along_index(values, key > slot("after")))
            .order_by(*equal, key)
            .limit(slot("limit"))
        )
        return query

    return Statement(data, build)
