"""Animals in bodies and parameters; `Name` of `fields.py` says which names may be."""

from petstore.models.pets import STATUSES
from petstore.schemas import ChangeSchema, PageQuery, ResourceSchema, StrictSchema
from petstore.schemas.fields import Choice, Integer, Name, UrlInteger

NAME = {"description": "The animal's name.", "example": "Rex"}
CATEGORY_ID = {
    "description": "The id of its category; the list of categories has the names.",
}
STATUS = {
    "description": "`available` for adoption, `pending` while an order for it is open, "
    "`sold` once that is completed.",
}


class PetStatus(Choice):
    choices = STATUSES


class NewPetSchema(StrictSchema):
    name = Name(required=True, metadata=NAME)
    category_id = Integer(data_key="categoryId", required=True, metadata=CATEGORY_ID)
    status = PetStatus(load_default="available", metadata=STATUS)


class PetChangeSchema(NewPetSchema, ChangeSchema):
    """The body that corrects an animal."""


class PetSchema(NewPetSchema, ResourceSchema):
    plural = "Pets"


class PetQuery(PageQuery):
    status = PetStatus(metadata={"description": "Only animals with this status."})
    category_id = UrlInteger(
        data_key="categoryId",
        metadata={"description": "Only animals of this category."},
    )
