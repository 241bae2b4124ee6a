"""Bodies, forms and lines of files are loaded by marshmallow, hooks included."""

from datetime import date
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from marshmallow import (
    ValidationError,
    fields,
    post_load,
    pre_load,
    validate,
    validates,
    validates_schema,
)

from petstore.api.contract import Contract, Result
from petstore.models.grants import WRITE
from petstore.schemas import StrictSchema
from petstore.schemas.fields import Name
from tests.harness.databases import of_one_engine

THINGS = "/v1/things"


class OwnerSchema(StrictSchema):
    """A body within a body."""

    name = Name(required=True)


class ThingSchema(StrictSchema):
    """A body with fields and hooks of marshmallow."""

    first = fields.Date(load_default=date(2026, 1, 1))
    last = fields.Date(required=True)
    tags = fields.List(fields.String(validate=validate.Length(1)), load_default=list)
    owner = fields.Nested(OwnerSchema)

    @pre_load
    def accept_old_name(self, members: dict, **_: Any) -> dict:
        return {("last" if name == "end" else name): members[name] for name in members}

    @validates("last")
    def require_may(self, last: date, data_key: str) -> None:
        if last.month != 5:
            raise ValidationError("must be in May")

    @validates_schema
    def require_order(self, members: dict, **_: Any) -> None:
        if members["last"] < members["first"]:
            raise ValidationError("must not be before first", "last")

    @post_load
    def add_days(self, members: dict, **_: Any) -> dict:
        return {"days": (members["last"] - members["first"]).days} | members


class LoadedSchema(StrictSchema):
    """What a body was loaded into."""

    loaded = fields.Raw()


@of_one_engine
def test_hooks_change_and_check_what_is_loaded(app: Flask, client: FlaskClient):
    contract = Contract(required_role=WRITE, body=ThingSchema(), returns=LoadedSchema())
    view = contract(lambda _project_id, **loaded: Result({"loaded": loaded}))
    app.add_url_rule(THINGS, "things", view, methods=["POST"])
    loaded = client.post(THINGS, json={"end": "2026-05-09"}).json["loaded"]
    last = {"last": "2026-05-09"}
    assert loaded == {"days": 128, "first": "2026-01-01", **last, "tags": []}
    for body, faults in (
        ('{"last": "2026-06-01"}', "last: must be in May"),
        (
            '{"last": "2026-05-09", "first": "2026-05-10"}',
            "last: must not be before first",
        ),
        (
            '{"b": 1, "tags": ["x", ""], "owner": {"age": 7}}',
            "last: Missing data for required field.; "
            + "tags.1: Shorter than minimum length 1.; "
            + "owner.name: is required; owner.age: is unknown; b: is unknown",
        ),
        ('{"last": "2026-05-09", "last": ""}', "last: must not be repeated"),
    ):
        answer = client.post(THINGS, data=body, content_type="application/json")
        assert answer.json["message"] == faults
