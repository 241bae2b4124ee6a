"""Responses contain what marshmallow dumps, whatever the fields and the hooks are."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from ipaddress import ip_address, ip_interface
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from marshmallow import Schema, fields, post_dump, pre_dump

from petstore.api.contract import Contract, Result
from petstore.models.grants import READ
from petstore.schemas import StrictSchema
from petstore.schemas.fields import INT64_MAX, Choice, Instant, Integer, Name
from tests.harness.databases import of_one_engine


class Thing(NamedTuple):
    """A row of a model."""

    id: int
    value: Any


class Status(Enum):
    """A value that is dumped by its name."""

    SOLD = 1


OWNER = {"name": "Ms Lovelace", "age": 36}
Owner = Schema.from_dict({"name": fields.String(), "age": fields.Integer()})
NOON = datetime(2027, 3, 17, 12, tzinfo=UTC)
# How a field of each class is made, and values that it dumps.
FIELDS: dict[Callable[..., fields.Field], list[Any]] = {
    fields.AwareDateTime: [NOON],
    fields.Boolean: [True, False],
    partial(fields.Constant, "dog"): ["cat"],
    fields.Date: [date(2026, 5, 1)],
    partial(fields.DateTime, "timestamp_ms"): [NOON],
    partial(fields.Decimal, places=2): [
        Decimal("0.1"),
        Decimal("12345678901234567.89"),
    ],
    partial(fields.Dict, fields.Integer(), fields.Date()): [{7: date.max}],
    fields.Email: ["rex@example.org"],
    partial(fields.Enum, Status): [Status.SOLD],
    fields.Float: [12.5, 7],
    partial(fields.Function, lambda row: row.id): [None],
    fields.IP: [ip_address("::1")],
    fields.IPInterface: [ip_interface("10.0.0.1/8")],
    fields.IPv4: [ip_address("127.0.0.1")],
    fields.IPv4Interface: [ip_interface("10.0.0.1/8")],
    fields.IPv6: [ip_address("::1")],
    fields.IPv6Interface: [ip_interface("::1/64")],
    partial(fields.Integer, as_string=True): [7, "8"],
    partial(fields.List, fields.Date()): [[], [date.min, date.max]],
    partial(fields.Method, "id_of"): [None],
    fields.NaiveDateTime: [NOON.replace(tzinfo=None)],
    partial(fields.Nested, Owner, only=["name"]): [OWNER],
    partial(fields.Pluck, Owner, "age", many=True): [[OWNER, OWNER]],
    fields.Raw: [{"any": [1, None]}],
    fields.String: ["Rex", b"Rex", 7],
    fields.Time: [time(12, 30)],
    partial(fields.TimeDelta, "minutes"): [timedelta(hours=2)],
    partial(fields.Tuple, (fields.Date(), fields.Float())): [(date.min, 1)],
    fields.URL: ["https://example.org"],
    fields.UUID: [UUID(int=7)],
    partial(Choice, ("cat", "dog")): ["dog"],
    Instant: [0, 253_402_300_799_999],
    Integer: [0, INT64_MAX],
    Name: [" Rex "],
}
ABSTRACT = {fields.Field, fields.Number, fields.Mapping}
each_field = pytest.mark.parametrize("make", FIELDS, ids=lambda make: repr(make)[:40])


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


def test_each_field_of_marshmallow_is_tried():
    tried = {getattr(make, "func", make) for make in FIELDS}
    assert {getattr(fields, name) for name in fields.__all__} <= tried | ABSTRACT


@pytest.mark.parametrize(
    "options", [{}, {"data_key": ""}, {"load_only": True}], ids=str
)
@pytest.mark.parametrize("make", FIELDS, ids=lambda make: repr(make)[:40])
def test_rows_are_dumped_as_by_marshmallow(
    make: Callable[..., fields.Field], options: dict
):
    values = FIELDS[make] if make is Instant else [None, *FIELDS[make]]
    rows = [Thing(n, value) for n, value in enumerate(values)]
    assert_same(rows, value=make(**options) if options else make())


def test_what_a_schema_or_a_field_reads_itself_is_dumped_as_by_marshmallow():
    class Upper(Name):
        def get_value(self, obj: Any, attr: str, **options: Any) -> str:
            return super().get_value(obj, attr, **options).upper()

    def shortened(_schema: Schema, obj: Any, attr: str, default: Any) -> Any:
        return str(getattr(obj, attr, default))[:2]

    rows = [Thing(1, "Rex"), Thing(2, "Max")]
    assert_same(rows, value=Upper())
    assert_same(rows, value=Name(), get_attribute=shortened)
    assert_same(rows, value=Integer(attribute="id", dump_only=True))


def test_objects_of_other_kinds_are_dumped_as_by_marshmallow():
    class Other(NamedTuple):
        value: str
        id: int

    for rows in ([], [{"id": 1, "value": "Rex"}], [Thing(1, "Rex"), Other("Max", 2)]):
        assert_same(rows, value=Name())
    assert_same([Thing(1, "Rex")], value=Name(), more=Name(dump_default="none"))


def test_rows_are_dumped_between_the_hooks():
    def rename(_schema: Schema, row: Thing, **_: Any) -> Thing:
        return row._replace(value=row.value.upper())

    def envelope(_schema: Schema, dumped: Any, **_: Any) -> dict:
        return {"dumped": dumped}

    wrap = post_dump(pass_collection=True)(envelope)
    hooks = {"rename": pre_dump(rename), "wrap": wrap}
    things = schema(StrictSchema, value=Name(), **hooks)(many=True)
    dumped = things.dump([Thing(1, "Rex")])
    assert dumped == {"dumped": [{"id": 1, "value": "REX"}]}


def test_members_that_are_chosen_are_dumped_alone():
    things = schema(StrictSchema, value=Name())
    rows, all_members = [Thing(1, "Rex")], things(many=True)
    assert all_members.dump(rows) == [{"id": 1, "value": "Rex"}]
    assert things(only=["id"]).dump(rows, many=True) == [{"id": 1}]
    nested = schema(StrictSchema, value=fields.Nested(all_members, only=["value"]))
    assert nested().dump(Thing(1, rows)) == {"id": 1, "value": [{"value": "Rex"}]}


@of_one_engine
@pytest.mark.parametrize("make", FIELDS, ids=lambda make: repr(make)[:40])
def test_any_field_can_be_in_a_response(
    make: Callable[..., fields.Field], app: Flask, client: FlaskClient
):
    rows = [Thing(n, value) for n, value in enumerate(FIELDS[make])]
    things = schema(StrictSchema, value=make())(many=True)
    view = Contract(takes=READ, returns=things)(lambda _project_id: Result(rows))
    app.add_url_rule("/v1/things", "things", view)
    dumped = json.dumps(
        schema(Schema, value=make())(many=True).dump(rows), default=float
    )
    assert client.get("/v1/things").json == json.loads(dumped)


@of_one_engine
def test_lists_of_the_api_are_dumped_at_once(
    app: Flask, client: FlaskClient, order: dict, monkeypatch: pytest.MonkeyPatch
):
    views = app.view_functions
    lists = [
        rule.rule
        for rule in app.url_map.iter_rules()
        if (contract := getattr(views[rule.endpoint], "contract", None))
        if contract.returns and contract.returns.many
    ]
    before = {path: client.get(path).json for path in lists}
    assert all(before.values())
    monkeypatch.setattr(
        Schema, "_serialize", lambda *_, **__: pytest.fail("one by one")
    )
    assert {path: client.get(path).json for path in lists} == before
