"""Threads for tasks that may take long: bounded in all, and for each project."""

import threading
from collections.abc import Callable

import peewee

from petstore.database import data


class BoundedThreads:
    """Runs tasks beside the requests of a worker, each in a thread of its own."""

    def __init__(self, limit: int, limit_per_project: int) -> None:
        self._limit = limit
        self._limit_per_project = limit_per_project
        self._running: dict[threading.Thread, int | None] = {}

    def start(self, project_id: int | None, task: Callable[[], object]) -> bool:
        """Run a task unless too many are running; return whether it is run.

        Without a project, the task is for all of them.
        """
        of_project = list(self._running.values()).count(project_id)
        if len(self._running) >= self._limit or of_project >= self._limit_per_project:
            return False
        thread = threading.Thread(target=self._run, args=(task,), daemon=True)
        self._running[thread] = project_id
        thread.start()
        return True

    def wait(self) -> None:
        """Wait for all tasks that were started."""
        for thread in list(self._running):
            thread.join()

    def _run(self, task: Callable[[], object]) -> None:
        try:
            task()
        except (peewee.DatabaseError, peewee.DoesNotExist):
            pass  # the task is due again later; or its domain was removed meanwhile
        finally:
            data.disconnect()
            self._running.pop(threading.current_thread(), None)
