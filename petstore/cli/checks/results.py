"""The result of a check."""

from typing import Literal

# Whether somebody has to act (a warning may be intended), and a sentence that says what
# was found, or what to do.
Result = tuple[Literal["ok", "warning", "wrong"], str]
