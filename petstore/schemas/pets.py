"""Animals in bodies and parameters (specification section 2)."""

from typing import Any

from marshmallow.fields import Field

from petstore.models.categories import NEW
from petstore.models.pets import STATUSES
from petstore.schemas import (
    ChangeForm,
    ChangeSchema,
    ResourceSchema,
    StrictSchema,
    TextSchema,
)
from petstore.schemas.fields import Choice, Integer, Name, NumberOrName, UrlInteger
from petstore.schemas.paging import DashboardQuery, PageQuery

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
    category_id: Field[Any] = Integer(
        data_key="categoryId", required=True, metadata=CATEGORY_ID
    )
    status = PetStatus(load_default="available", metadata=STATUS)


class PetChangeSchema(NewPetSchema, ChangeSchema):
    """The body that corrects an animal."""


class PetSchema(NewPetSchema, ResourceSchema):
    plural = "Pets"


class AnimalForm(NewPetSchema, TextSchema):
    """The form that adds an animal, whose category people name."""

    category_id = NumberOrName(
        data_key="categoryId", required=True, error_messages={"required": "is required"}
    )

    def load(self, data: Any, **options: Any) -> Any:
        """Load the form. A category that is typed counts before one that is chosen.

        If a page has asked about the typed name, `asked` repeats that name, and `like`
        is the answer: the number of a category, or `NEW`.
        """
        fields = dict(data)
        typed, asked = fields.pop("category", ""), fields.pop("asked", "")
        like = fields.pop("like", "") if asked == typed else ""
        if like and like != NEW:
            fields["categoryId"] = like
        elif typed.strip():
            fields["categoryId"] = typed
        loaded = super().load(fields, **options)
        return loaded | {"is_new": True} if like == NEW else loaded


class AnimalChangeForm(AnimalForm, ChangeForm):
    """The form that corrects an animal."""


class FilePetSchema(NewPetSchema, TextSchema):
    """The cells of an animal in a file."""

    id = UrlInteger()
    category_id = UrlInteger(data_key="categoryId", required=True)
    category = Name(required=True)


class PetQuery(PageQuery):
    status = PetStatus(metadata={"description": "Only animals with this status."})
    category_id = UrlInteger(
        data_key="categoryId",
        metadata={"description": "Only animals of this category."},
    )


class DashboardPetQuery(DashboardQuery):
    status = PetStatus(load_default=None)
    category_id = UrlInteger(data_key="category", load_default=None)
    name = Name(load_default="")
    sort = Choice(("name",), load_default=None)
