"""Animals in bodies and parameters (specification section 2)."""

from petstore.models.pets import STATUSES
from petstore.schemas.fields import (
    Choice,
    Integer,
    Name,
    NumberOrName,
    StrictSchema,
    UrlInteger,
)
from petstore.schemas.paging import DashboardQuery, PageQuery

NAME = {"description": "The animal's name.", "example": "Rex"}
CATEGORY_ID = {
    "description": "The id of its category; the list of categories has the names.",
    "example": 7,
}
STATUS = {
    "description": "`available` for adoption, `pending` while an order for it is open, "
    "`sold` once that is completed.",
    "example": "available",
}


class PetStatus(Choice):
    """The availability of an animal."""

    choices = STATUSES


class NewPetSchema(StrictSchema):
    """The body that creates an animal."""

    name = Name(required=True, metadata=NAME)
    category_id = Integer(data_key="categoryId", required=True, metadata=CATEGORY_ID)
    status = PetStatus(load_default="available", metadata=STATUS)


class PetChangeSchema(StrictSchema):
    """The body that corrects an animal."""

    needs_member = True

    name = Name(metadata=NAME)
    category_id = Integer(data_key="categoryId", metadata=CATEGORY_ID)


class NewPetForm(NewPetSchema):
    """The form that adds an animal: a body in which every value is a text."""

    category_id = UrlInteger(data_key="categoryId", required=True)


class AnimalChangeForm(StrictSchema):
    """The form that corrects an animal, whose category people name."""

    name = Name(required=True)
    category_id = NumberOrName(
        data_key="categoryId", required=True, error_messages={"required": "is required"}
    )


class AnimalForm(AnimalChangeForm):
    """The form that adds an animal, whose category people name."""

    status = PetStatus(load_default="available")


class NumberedPetSchema(NewPetForm):
    """The cells of an animal in a file whose category has a number."""

    category = Name(load_default=None)


class NamedPetSchema(NewPetForm):
    """The cells of an animal in a file whose category has a name alone."""

    category_id = UrlInteger(data_key="categoryId", load_default=None)
    category = Name(required=True)


class PetSchema(StrictSchema):
    """An animal in a response."""

    plural = "Pets"

    id = Integer(
        1,
        required=True,
        metadata={
            "description": "Assigned by the service, and never to another animal.",
            "example": 42,
        },
    )
    name = Name(required=True, metadata=NAME)
    category_id = Integer(data_key="categoryId", required=True, metadata=CATEGORY_ID)
    status = PetStatus(required=True, metadata=STATUS)


class PetQuery(PageQuery):
    """The parameters of a list of animals."""

    status = PetStatus(metadata={"description": "Only animals with this status."})
    category_id = UrlInteger(
        data_key="categoryId",
        metadata={"description": "Only animals of this category."},
    )


class DashboardPetQuery(DashboardQuery):
    """The parameters of the list of animals on the dashboard."""

    status = PetStatus(load_default=None)
    category_id = UrlInteger(data_key="category", load_default=None)
    name = Name(load_default="")
    open = UrlInteger(load_default=None)
