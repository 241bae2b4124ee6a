"""What a statement may do is decided by what it does, alike on both engines."""

from unittest.mock import Mock

import pytest

from petstore.models.projects import Slug
from petstore.storage import db

pytestmark = pytest.mark.usefixtures("app")
FOUND = "WITH found AS (SELECT slug FROM slug)"
DELETE = "DELETE FROM slug WHERE slug IN (SELECT slug FROM found)"
INSERT = "INSERT INTO slug (slug) VALUES ('rex') RETURNING slug"


def test_query_that_begins_with_with_needs_a_transaction_only_to_write(
    monkeypatch: pytest.MonkeyPatch,
):
    begin = Mock(wraps=db.begin)
    monkeypatch.setattr(db.obj, "begin", begin)
    db.execute_sql(f"{FOUND} SELECT slug FROM found").fetchall()
    assert not begin.called
    db.execute_sql(f"{FOUND} {DELETE}")
    assert begin.called


def test_rows_of_a_write_are_read_after_its_commit():
    assert db.execute_sql(INSERT).fetchall() == [("rex",)]
    assert not db.in_transaction()
    row = Slug.insert(slug="tom").returning(Slug.slug).execute()
    assert [each.slug for each in row] == ["tom"]
