"""Keys in parameters and forms."""

from petstore.models.grants import (
    DEFAULT_GRACE_SECONDS,
    FULL,
    MAX_EXPIRY_DAYS,
    MAX_GRACE_SECONDS,
    PUBLIC,
    READ,
    ROLES,
    WRITE,
)
from petstore.schemas import StrictSchema, TextSchema
from petstore.schemas.fields import Choice, Name, UrlInteger, Words

STATUSES = ("working", "ended")
# What a key may be for, and the roles that it may have for that.
KEY_KINDS = {
    "staff": (WRITE,),
    "program": (WRITE, READ),
    "page": (PUBLIC,),
    "owner": (FULL,),
}


class KeyQuery(StrictSchema):
    """The parameters of the list of keys, and of the form that issues one."""

    status = Choice(STATUSES, load_default="working")
    kind = Choice(tuple(KEY_KINDS), load_default="staff")


class KeyForm(TextSchema):
    label = Name(load_default=None)
    per_minute = UrlInteger(1, load_default=None)
    per_day = UrlInteger(1, load_default=None)
    origins = Words(load_default=())


class NewKeyForm(KeyForm):
    days = UrlInteger(1, MAX_EXPIRY_DAYS, load_default=None)
    role = Choice(ROLES, load_default=FULL)


class RotationForm(TextSchema):
    grace = UrlInteger(0, MAX_GRACE_SECONDS, load_default=DEFAULT_GRACE_SECONDS)
