"""What requests note is written in the background, many notes in one transaction."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import peewee

from petstore import timeouts
from petstore.concurrency import Delayed
from petstore.storage import close_connections, db

Note = TypeVar("Note")


class Notes(Generic[Note]):
    """The notes of one kind that a process has not written yet.

    No request waits for them. When there are too many, the oldest are lost.
    """

    def __init__(
        self, write: Callable[[list[Note]], None], seconds: Callable[[], float]
    ) -> None:
        self._write = write
        self._seconds = seconds  # how long a note may wait
        self._notes: deque[Note] = deque()
        self._flushing = Delayed(self.flush)

    def add(self, note: Note) -> None:
        """Have a note written soon."""
        self._notes.append(note)
        if len(self._notes) > timeouts.LIMITS.notes:
            self._notes.popleft()
        self._flushing.start(self._seconds())

    def flush(self) -> None:
        """Write all notes; while the database is away, they are kept."""
        notes = [self._notes.popleft() for _ in range(len(self._notes))]
        if not notes:
            return
        try:
            with db.atomic():
                self._write(notes)
        except peewee.DatabaseError as error:
            if not db.is_outage(error):
                raise
            self._notes.extendleft(reversed(notes))
            self._flushing.start(self._seconds())
        finally:
            close_connections()
