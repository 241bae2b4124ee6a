"""What is asked of keys that are issued and rotated."""

from petstore.schemas.fields import Name, StrictSchema, UrlInteger

MAX_EXPIRY_DAYS = 36_500
MAX_GRACE_SECONDS = 31_536_000
DEFAULT_GRACE_SECONDS = 86_400


class NewKeySchema(StrictSchema):
    """The form that issues a key."""

    label = Name(load_default=None)
    days = UrlInteger(1, MAX_EXPIRY_DAYS, load_default=None)


class RotationSchema(StrictSchema):
    """The form that rotates a key: how many seconds the old one goes on."""

    grace = UrlInteger(0, MAX_GRACE_SECONDS, load_default=DEFAULT_GRACE_SECONDS)
