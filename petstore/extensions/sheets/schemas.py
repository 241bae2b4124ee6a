"""The cells of an animal in a file."""

from typing import Any

from marshmallow.fields import Field

from petstore.schemas.fields import Integer, Name, UrlInteger
from petstore.schemas.pets import NewPetSchema


class FilePetSchema(NewPetSchema):
    """An animal in a file, whose cells are texts."""

    id = UrlInteger()
    category_id = UrlInteger(data_key="categoryId", required=True)
    category = Name(required=True)

    def on_bind_field(self, field_name: str, field_obj: Field[Any]) -> None:
        if isinstance(field_obj, Integer):
            field_obj.is_text = True
