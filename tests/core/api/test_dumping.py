"""Responses contain what marshmallow dumps, whatever the fields and the hooks are."""

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from marshmallow import Schema, fields, missing, post_dump, pre_dump

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.schemas import StrictSchema
from petstore.schemas.categories import CategorySchema
from petstore.schemas.fields import INT64_MAX, Choice, Instant, Integer, Name
from petstore.schemas.orders import OrderSchema
from petstore.schemas.pets import PetSchema


class Thing(NamedTuple):
    """A row of a model."""

    id: int
    value: Any


class Status(Enum):
    """A value that is dumped by its name."""

    SOLD = 1


Owner = Schema.from_dict({"name": fields.String(), "age": fields.Integer()})
# Fields of each kind, and a value that each dumps.
FIELDS: list[tuple[fields.Field, Any]] = [
    (fields.Boolean(), True),
    (fields.Constant("dog"), "cat"),
    (fields.Date(), date(2026, 5, 1)),
    (fields.Decimal(places=2), Decimal("12345678901234567.89")),
    (fields.Dict(fields.Integer(), fields.Date()), {7: date.max}),
    (fields.Enum(Status), Status.SOLD),
    (fields.Float(), 12.5),
    (fields.Function(lambda row: row.id), None),
    (fields.Function(lambda _row: missing), "cat"),
    (fields.Integer(as_string=True), "8"),
    (fields.List(fields.Date()), [date.min, date.max]),
    (fields.Method("id_of"), None),
    (fields.Nested(Owner, only=["name"]), {"name": "Ms Lovelace", "age": 36}),
    (fields.String(), b"Rex"),
    (fields.UUID(), UUID(int=7)),
    (fields.String(data_key=""), "Rex"),
    (fields.String(load_only=True), "Rex"),
    (Choice(("cat", "dog")), "dog"),
    (Instant(), 253_402_300_799_999),
    (Integer(), INT64_MAX),
    (Name(), " Rex "),
]


def schema(base: type[Schema], **members: Any) -> type[Schema]:
    """Return a schema of things, of marshmallow itself or of the service."""
    hidden = type("Meta", (), {"register": False})
    methods = {"Meta": hidden, "id_of": lambda _self, row: row.id}
    return type(base)("ThingSchema", (base,), {"id": Integer()} | members | methods)


def assert_same(rows: Any, **members: Any) -> None:
    """Assert that both dump the same, members in the same order, one row or many."""
    theirs, ours = schema(Schema, **members)(), schema(StrictSchema, **members)()
    dumped = theirs.dump(rows, many=True)
    assert repr(ours.dump(rows, many=True)) == repr(dumped)
    assert repr([ours.dump(row) for row in rows]) == repr(dumped)


def test_rows_are_dumped_as_by_marshmallow():
    for field, value in FIELDS:
        rows = [Thing(1, value), Thing(2, 0 if type(field) is Instant else None)]
        assert_same(rows, value=field)
    for field in (Name(attribute="value"), Name(attribute="name")):
        assert_same([Thing(1, "Rex")], label=field)


def test_chosen_members_are_dumped_between_the_hooks():
    def rename(_schema: Schema, row: Thing, **_: Any) -> Thing:
        return row._replace(value=row.value.upper())

    def envelope(_schema: Schema, dumped: Any, **_: Any) -> dict:
        return {"dumped": dumped}

    wrap = post_dump(pass_collection=True)(envelope)
    hooks = {"rename": pre_dump(rename), "wrap": wrap}
    things = schema(StrictSchema, value=Name(), **hooks)
    rows = [Thing(1, "Rex")]
    assert things(many=True).dump(rows) == {"dumped": [{"id": 1, "value": "REX"}]}
    assert things(only=["id"]).dump(rows, many=True) == {"dumped": [{"id": 1}]}
    plain = schema(StrictSchema, value=Name())(many=True)
    assert plain.dump(rows) == [{"id": 1, "value": "Rex"}]
    nested = schema(StrictSchema, value=fields.Nested(plain, only=["value"]))
    assert nested().dump(Thing(1, rows)) == {"id": 1, "value": [{"value": "Rex"}]}


def test_columns_of_a_row_are_in_the_order_of_the_members_as_fast_dumping_needs():
    for model, of_model in (
        (Category, CategorySchema),
        (Order, OrderSchema),
        (Pet, PetSchema),
    ):
        columns = [column.name for column in model.columns()]
        assert columns == list(of_model().dump_fields)
