"""Texts that all processes and hosts of an installation share."""

from peewee import TextField

from petstore import randomness
from petstore.storage import BaseModel

SECRET_BYTES = 32
READINESS = "readiness"  # the name of a row that nothing reads


class Secret(BaseModel):
    """A text that every process and host shares; most are random."""

    name = TextField(primary_key=True)
    text = TextField()

    @classmethod
    def shared(cls, name: str) -> str:
        """Return the secret with that name; the first process that asks makes it."""
        secret = cls.get_or_none(cls.name == name)
        if secret is None:
            text = randomness.token(SECRET_BYTES)
            cls.insert(name=name, text=text).on_conflict_ignore().execute()
            secret = cls.get_by_id(name)
        return secret.text

    @classmethod
    def try_database(cls) -> None:
        """Write a row that nothing reads; raises `peewee.DatabaseError`."""
        cls.put(READINESS, randomness.token(SECRET_BYTES))

    @classmethod
    def put(cls, name: str, text: str) -> None:
        row = cls.insert(name=name, text=text)
        row.on_conflict(conflict_target=[cls.name], preserve=[cls.text]).execute()
