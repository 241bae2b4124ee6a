"""How a file is read: what people have chosen, and a first guess at the rest."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from marshmallow import EXCLUDE

from petstore.schemas.pets import FilePetSchema

LEFT_OUT = "skip"  # what becomes of lines without a name
DELIMITERS = ",;\t|"
# The names that people know. A file that is not UTF-8 or UTF-16 has one of these.
ENCODINGS = (
    *("Windows-1252", "Mac Roman", "Windows-1250", "Windows-1251"),
    *("Shift_JIS", "GB18030", "Big5", "EUC-KR"),
)
# What Windows calls by these names are encodings with more letters.
WIDER = {"Shift_JIS": "cp932", "Big5": "cp950", "EUC-KR": "cp949"}
FIELDS = FilePetSchema(unknown=EXCLUDE)
HEADS = [each.data_key or name for name, each in FIELDS.fields.items()]  # ours
# What other systems call our columns, as `_folded` writes it; likely words come first.
WORDS = {
    "name": "name animalname petname nameofanimal callname",
    "category": "category species speciesname animalspecies animaltype pettype type "
    "typename kind",
    "status": "status adoptionstatus animalstatus currentstatus petstatus outcometype "
    "outcome outcomestatus outtype movementtype incustody availability disposition",
}


@dataclass(frozen=True)
class Choices:
    """Which column is what, and what else a file does not say.

    A column is named by its head; "" stands for none. A value of None is guessed, and
    so is a column that the file does not have.
    """

    columns: dict[str, str] = field(default_factory=dict)  # by our heads
    statuses: dict[str, str] = field(default_factory=dict)  # of others: ours
    without_name: str = ""  # LEFT_OUT, or a head; if empty, such a line is at fault
    separator: str | None = None
    encoding: str | None = None


NO_CHOICES = Choices()


def guess(ours: str, heads: Iterable[str]) -> str:
    """Return the head that most likely means one of ours, or ""."""
    folded = {_folded(head): head for head in reversed([*heads])}
    words = WORDS.get(ours, _folded(ours)).split()
    return next((folded[word] for word in words if word in folded), "")


def _folded(head: str) -> str:
    return re.sub(r"[\W_]", "", head.casefold())
