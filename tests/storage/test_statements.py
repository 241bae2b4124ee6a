"""What a statement may do is decided by what it does, alike on both engines."""

from unittest.mock import Mock

import pytest

from petstore.storage import db

pytestmark = pytest.mark.usefixtures("app")
FOUND = "WITH found AS (SELECT slug FROM slug)"
DELETE = "DELETE FROM slug WHERE slug IN (SELECT slug FROM found)"


def test_query_that_begins_with_with_needs_a_transaction_only_to_write(
    monkeypatch: pytest.MonkeyPatch,
):
    begin = Mock(wraps=db.begin)
    monkeypatch.setattr(db.obj, "begin", begin)
    db.execute_sql(f"{FOUND} SELECT slug FROM found").fetchall()
    assert not begin.called
    db.execute_sql(f"{FOUND} {DELETE}")
    assert begin.called
