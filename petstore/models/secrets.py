"""Secrets of the service itself, the same for every process and host."""

import secrets

from peewee import TextField

from petstore.database import BaseModel

SECRET_BYTES = 32


class Secret(BaseModel):
    """A random text, made once."""

    name = TextField(primary_key=True)
    text = TextField()

    @classmethod
    def shared(cls, name: str) -> str:
        """The secret of that name; of those who first ask at once, one makes it."""
        made = secrets.token_urlsafe(SECRET_BYTES)
        cls.insert(name=name, text=made).on_conflict_ignore().execute()
        return cls.get_by_id(name).text
