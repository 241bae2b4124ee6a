"""Animals in bodies and parameters (specification section 2)."""

from typing import Any

from petstore.models.pets import STATUSES
from petstore.schemas.fields import Choice, Integer, Name, StrictSchema
from petstore.schemas.paging import PageQuery

NAME = {"description": "The animal's name.", "example": "Rex"}
CATEGORY_ID = {"description": "The category the animal belongs to.", "example": 7}
STATUS = {"description": "Availability.", "example": "available"}


class PetStatus(Choice):
    """PetStatus: how far an animal has come."""

    def __init__(self, **options: Any) -> None:
        super().__init__(STATUSES, **options)


class NewPetSchema(StrictSchema):
    """NewPet: the body that creates an animal."""

    name = Name(required=True, metadata=NAME)
    category_id = Integer(data_key="categoryId", required=True, metadata=CATEGORY_ID)
    status = PetStatus(load_default="available", metadata=STATUS)


class PetSchema(StrictSchema):
    """Pet: an animal in a response."""

    id = Integer(
        1,
        required=True,
        metadata={"description": "Assigned by the service on creation.", "example": 42},
    )
    name = Name(required=True, metadata=NAME)
    category_id = Integer(data_key="categoryId", required=True, metadata=CATEGORY_ID)
    status = PetStatus(required=True, metadata=STATUS)


class PetQuery(PageQuery):
    """The parameters of a list of animals."""

    status = PetStatus(metadata={"description": "Only animals with this status."})
