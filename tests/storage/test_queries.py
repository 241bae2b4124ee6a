"""Tests for queries whose SQL is built once."""

import pytest
from peewee import Select, Value

from petstore.storage import db, slot, statement

LIKE_PLACEHOLDERS = "it's ?, :name and $1 at 9:30"


@pytest.mark.usefixtures("app")
def test_text_that_looks_like_a_placeholder_stays_text():
    @statement(db)
    def select() -> Select:
        name = slot("name")
        return Select(columns=[Value(LIKE_PLACEHOLDERS), name.concat(name)])

    [(constant, value)] = select(name="a?:name$1")
    assert (constant, value) == (LIKE_PLACEHOLDERS, "a?:name$1" * 2)
