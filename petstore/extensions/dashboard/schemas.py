"""The parameters of pages, and their forms."""

import re
from typing import Any

from marshmallow import EXCLUDE, pre_load
from marshmallow.fields import Field

from petstore.models import grants
from petstore.schemas import DEFAULT_LIMIT, MAX_LIMIT, StrictSchema
from petstore.schemas.fields import Choice, Integer, Name, UrlInteger
from petstore.schemas.orders import OrderStatus
from petstore.schemas.pets import NewPetSchema, PetStatus

NEW = "new"  # the answer that a typed name is that of a new category
SHOWN = "shown."  # prefix of hidden fields, which hold what a form has shown
_TYPED_NUMBER = re.compile("#?([0-9]+)(?:[.,]0)?")


class ListQuery(StrictSchema):
    """The parameters of a list, which begins at the first page."""

    limit = UrlInteger(1, MAX_LIMIT, load_default=DEFAULT_LIMIT)
    after = UrlInteger(load_default=None)
    before = UrlInteger(load_default=None)
    last = UrlInteger(1, 1, load_default=None)
    whole = UrlInteger(1, 1, load_default=None)
    page = UrlInteger(1, load_default=None)  # its number in the links of the list


class CategoryListQuery(ListQuery):
    limit = UrlInteger(1, 20, load_default=DEFAULT_LIMIT)  # rows of two forms


class PetListQuery(ListQuery):
    status = PetStatus(load_default=None)
    category_id = UrlInteger(data_key="category", load_default=None)
    name = Name(load_default="")
    sort = Choice(("name",), load_default=None)


class OrderListQuery(ListQuery):
    limit = UrlInteger(1, 50, load_default=DEFAULT_LIMIT)  # rows of two buttons
    status = OrderStatus(load_default=None)
    name = Name(load_default="")


class NumberOrName(Field[int | str]):
    """A category as people type it: its number, also as 7.0, or its name."""

    def _deserialize(self, value: str, *_: Any, **__: Any) -> int | str:
        text = value.strip()
        if number := _TYPED_NUMBER.fullmatch(text):
            return int(UrlInteger().deserialize(str(number[1])))
        return str(Name().deserialize(text))


class Words(Field[tuple[str, ...]]):
    """Words that are separated by white space or commas."""

    def _deserialize(self, value: str, *_: Any, **__: Any) -> tuple[str, ...]:
        return tuple(re.findall(r"[^\s,]+", value))


class FormSchema(StrictSchema):
    """A form, whose values are texts, as `text_of` writes them."""

    def on_bind_field(self, field_name: str, field_obj: Field[Any]) -> None:
        if isinstance(field_obj, Integer):
            field_obj.is_text = True

    @pre_load
    def leave_out_empty(self, texts: dict[str, str], **_: Any) -> dict[str, str]:
        return {name: text for name, text in texts.items() if text.strip()}


def text_of(value: Any) -> str:
    """Return a dumped value as a text that a form can load."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


class ChangeFormSchema(FormSchema):
    """A form that loads only the fields that somebody has changed.

    Beside each field, a hidden one (`shown.…`) holds what the form has shown.
    """

    def load(self, data: Any, **options: Any) -> Any:
        changed = {
            name: text
            for name, text in data.items()
            if not name.startswith(SHOWN) and text != data.get(f"{SHOWN}{name}")
        }
        unchanged = [
            name
            for name, each in self.load_fields.items()
            if (each.data_key or name) not in changed
        ]
        return super().load(changed, partial=unchanged, **options)


class AnimalForm(NewPetSchema, FormSchema):
    """The form that adds an animal, whose category people name."""

    category_id: Field[Any] = NumberOrName(  # type: ignore[assignment]
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


class AnimalChangeForm(AnimalForm, ChangeFormSchema):
    """The form that corrects an animal."""


class OrderForm(FormSchema):
    """The form that reserves an animal, or says for whom a pending one is reserved."""

    reference = Name(load_default=None)
    of = Choice(("available", "pending"), load_default="available")


class OrderChangeForm(ChangeFormSchema):
    """The form that corrects the reference of an order, or erases it."""

    reference = Name(load_default=None)


class CategoryForm(FormSchema):
    name = Name(required=True)


class CategoryChangeForm(ChangeFormSchema):
    """The form that names a category; an empty field takes the name away."""

    name = Name(load_default=None)


class CategoryMergeForm(FormSchema):
    class Meta:
        unknown = EXCLUDE  # the browser also sends the name from the form

    into = UrlInteger(required=True)


KEY_STATUSES = ("working", "ended")
# What a key may be for, and the roles that it may have for that.
KEY_KINDS = {
    "staff": (grants.WRITE,),
    "program": (grants.WRITE, grants.READ),
    "page": (grants.PUBLIC,),
    "owner": (grants.FULL,),
}


class KeyQuery(StrictSchema):
    """The parameters of the list of keys, and of the form that issues one."""

    status = Choice(KEY_STATUSES, load_default="working")
    kind = Choice(tuple(KEY_KINDS), load_default="staff")


class KeyForm(FormSchema):
    label = Name(load_default=None)
    per_minute = UrlInteger(1, load_default=None)
    per_day = UrlInteger(1, load_default=None)
    origins = Words(load_default=())


class NewKeyForm(KeyForm):
    days = UrlInteger(1, grants.MAX_EXPIRY_DAYS, load_default=None)
    role = Choice(grants.ROLES, load_default=grants.FULL)


class RotationForm(FormSchema):
    grace = UrlInteger(
        0, grants.MAX_GRACE_SECONDS, load_default=grants.DEFAULT_GRACE_SECONDS
    )
