"""Threads for what may take long: so many at once, and few of them for one project."""

import threading
from collections.abc import Callable

import peewee

from petstore.database import data


class Errands:
    """What runs beside the requests of a worker."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._running: dict[threading.Thread, int | None] = {}

    def start(self, project_id: int | None, errand: Callable[[], None]) -> bool:
        """Run it in a thread of its own, unless too many do; whether it does.

        Without a project it is an errand for all of them.
        """
        of_one = list(self._running.values()).count(project_id)
        if len(self._running) >= self._most or of_one >= self._most_of_one:
            return False
        thread = threading.Thread(target=self._run, args=(errand,), daemon=True)
        self._running[thread] = project_id
        thread.start()
        return True

    def wait(self) -> None:
        """Return when everything that was begun has ended."""
        for thread in list(self._running):
            thread.join()

    def _run(self, errand: Callable[[], None]) -> None:
        try:
            errand()
        except (peewee.DatabaseError, peewee.DoesNotExist):
            pass  # it is due again later; a domain may be removed meanwhile
        finally:
            data.disconnect()
            self._running.pop(threading.current_thread(), None)
