"""Orders in bodies and parameters."""

from petstore.models.orders import CLOSED, STATUSES
from petstore.schemas import ChangeSchema, PageQuery, ResourceSchema, StrictSchema
from petstore.schemas.fields import Choice, Instant, Integer, Name, UrlInteger

INSTANT = {
    "format": "date-time",
    "maxLength": 24,
    "example": "2027-03-17T12:00:10.000Z",
}
PET_ID = {"description": "The id of the animal that is ordered."}
REFERENCE = {
    "description": "Whose order it is, in your own words; null if not given.",
    "example": "Ms Lovelace, 555-0100",
}


class OrderStatus(Choice):
    choices = STATUSES


class NewOrderSchema(StrictSchema):
    pet_id = Integer(data_key="petId", required=True, metadata=PET_ID)
    reference = Name(load_default=None, allow_none=True, metadata=REFERENCE)


class OrderChangeSchema(ChangeSchema):
    """The body that closes an order, corrects its reference, or both."""

    status = Choice(
        tuple(CLOSED),
        metadata={"description": "How the order ends."},
    )
    reference = Name(
        allow_none=True,
        metadata=REFERENCE | {"description": "Whose order it is; null erases it."},
    )


class OrderSchema(ResourceSchema):
    plural = "Orders"

    pet_id = Integer(1, data_key="petId", metadata=PET_ID)
    status = OrderStatus(
        metadata={
            "description": "`placed` until it is `completed` or `cancelled`.",
        }
    )
    reference = Name(allow_none=True, metadata=REFERENCE)
    created_ms = Instant(
        data_key="createdAt",
        metadata={"description": "When it was placed."} | INSTANT,
    )
    updated_ms = Instant(
        data_key="updatedAt",
        metadata={"description": "When it was changed last."} | INSTANT,
    )


class OrderQuery(PageQuery):
    status = OrderStatus(metadata={"description": "Only orders with this status."})
    pet_id = UrlInteger(
        data_key="petId", metadata={"description": "Only orders of this animal."}
    )
