"""Generated dumpers give the same output as marshmallow."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow.fields import Field, Integer, String

from petstore.schemas.categories import CategorySchema
from petstore.schemas.dumping import dumper_of
from petstore.schemas.fields import INT64_MAX, Instant, StrictSchema
from petstore.schemas.orders import OrderSchema
from petstore.schemas.pets import PetSchema

YEAR_9999_MS = 253_402_300_799_999


def values_of(field: Field) -> st.SearchStrategy[Any]:
    """Return a strategy for the values that a row may hold for a field."""
    if isinstance(field, Instant):
        values = st.integers(0, YEAR_9999_MS)
    elif isinstance(field, Integer):
        values = st.integers(0, INT64_MAX)
    else:
        assert isinstance(field, String)
        values = st.text()
    return st.none() | values if field.allow_none else values


def rows_of(schema: StrictSchema) -> st.SearchStrategy[SimpleNamespace]:
    """Return a strategy for rows that a schema can dump."""
    members = {name: values_of(field) for name, field in schema.dump_fields.items()}
    return st.builds(SimpleNamespace, **members)


# Schemas of responses only: forms and parameters are never dumped.
@pytest.mark.parametrize("kind", [PetSchema, OrderSchema, CategorySchema])
@pytest.mark.parametrize("is_many", [False, True])
@settings(max_examples=30)
@given(draw=st.data())
def test_dumper_matches_marshmallow(
    kind: type[StrictSchema], is_many: bool, draw: st.DataObject
):
    schema, row = kind(many=is_many), rows_of(kind())
    rows = draw.draw(st.lists(row, max_size=3) if is_many else row)
    assert json.dumps(dumper_of(schema)(rows)) == json.dumps(schema.dump(rows))
