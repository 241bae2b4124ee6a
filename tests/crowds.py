"""Threads of this process that do something at the same moment."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from tests import databases


def at_once(deed: Callable[[Any], object], arguments: Iterable[Any]) -> None:
    """Call the function with each argument, each in a thread of its own."""
    arguments = list(arguments)
    ready = threading.Barrier(len(arguments))

    def run(argument: Any) -> None:
        ready.wait()
        try:
            deed(argument)
        finally:
            databases.close()

    threads = [threading.Thread(target=run, args=(each,)) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
