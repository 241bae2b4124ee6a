"""Generated dumpers give the same output as marshmallow, for every schema."""

import importlib
import json
import pkgutil
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow.fields import Field, Integer, String

from petstore import schemas
from petstore.schemas.dumping import dumper_of
from petstore.schemas.fields import INT64_MAX, Instant, StrictSchema

YEAR_9999_MS = 253_402_300_799_999


def every(root: type[StrictSchema]) -> list[type[StrictSchema]]:
    """Import all modules of schemas, and return every subclass of the root."""
    for module in pkgutil.iter_modules(schemas.__path__, f"{schemas.__name__}."):
        importlib.import_module(module.name)
    children = root.__subclasses__()
    return [*children, *(leaf for child in children for leaf in every(child))]


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


@pytest.mark.parametrize("kind", every(StrictSchema))
@settings(max_examples=30)
@given(draw=st.data())
def test_dumper_of_one_row_matches_marshmallow(
    kind: type[StrictSchema], draw: st.DataObject
):
    row = draw.draw(rows_of(kind()))
    assert json.dumps(dumper_of(kind())(row)) == json.dumps(kind().dump(row))


@pytest.mark.parametrize("kind", every(StrictSchema))
@settings(max_examples=30)
@given(draw=st.data())
def test_dumper_of_many_rows_matches_marshmallow(
    kind: type[StrictSchema], draw: st.DataObject
):
    rows = draw.draw(st.lists(rows_of(kind()), max_size=3))
    schema = kind(many=True)
    assert json.dumps(dumper_of(schema)(rows)) == json.dumps(schema.dump(rows))
