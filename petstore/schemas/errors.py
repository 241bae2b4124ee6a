"""Error: the body of every failure (specification section 2)."""

from marshmallow import fields

from petstore.schemas.fields import Integer, StrictSchema


class ErrorSchema(StrictSchema):
    """Error: what went wrong, for a machine and for a person."""

    code = fields.String(
        required=True,
        metadata={
            "description": "For machines.",
            "maxLength": 64,
            "pattern": "^[a-z_]+$",
        },
    )
    message = fields.String(
        required=True,
        metadata={"description": "For people.", "maxLength": 10_000, "pattern": "^.+$"},
    )
    status = Integer(
        400, 599, required=True, metadata={"description": "The HTTP status code."}
    )
