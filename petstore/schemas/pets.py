"""Animals in bodies and parameters (specification section 2)."""

from marshmallow import fields

from petstore.models.pets import STATUSES
from petstore.schemas.fields import Choice, Integer, Name, StrictSchema
from petstore.schemas.paging import PageQuery


class PetSchema(StrictSchema):
    """Pet: an animal as it is answered."""

    id = fields.Integer()
    name = fields.String()
    category_id = fields.Integer(data_key="categoryId")
    status = fields.String()


class NewPetSchema(StrictSchema):
    """NewPet: the body that creates an animal."""

    name = Name(required=True)
    category_id = Integer(data_key="categoryId", required=True)
    status = Choice(STATUSES, load_default="available")


class PetQuery(PageQuery):
    """Which animals a list shows."""

    status = Choice(STATUSES, load_default=None)
