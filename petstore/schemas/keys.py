"""Keys in parameters and forms."""

from petstore.models.grants import (
    DEFAULT_GRACE_SECONDS,
    FULL,
    MAX_EXPIRY_DAYS,
    MAX_GRACE_SECONDS,
    ROLES,
)
from petstore.models.keys import STATUSES
from petstore.schemas import StrictSchema, TextSchema
from petstore.schemas.fields import Choice, Name, UrlInteger, Words


class KeyQuery(StrictSchema):
    """The parameter of the list of keys."""

    status = Choice(STATUSES, load_default="working")


class NewKeyForm(TextSchema):
    """The form that issues a key."""

    label = Name(load_default=None)
    days = UrlInteger(1, MAX_EXPIRY_DAYS, load_default=None)
    role = Choice(ROLES, load_default=FULL)
    per_minute = UrlInteger(1, load_default=None)
    per_day = UrlInteger(1, load_default=None)
    origins = Words(load_default=())


class RotationForm(TextSchema):
    """The form that rotates a key: for how many seconds the old one goes on."""

    grace = UrlInteger(0, MAX_GRACE_SECONDS, load_default=DEFAULT_GRACE_SECONDS)
