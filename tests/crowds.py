"""Run functions and requests concurrently, each in its own thread."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests import databases
from tests.clients import TIMEOUT_SECONDS, Answer, Client


def at_once(deed: Callable[[Any], object], arguments: Iterable[Any]) -> None:
    """Call the function with each argument at the same moment, in threads."""
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


def together(tasks: list[Callable[[], Any]]) -> list[Any]:
    """Run each task in its own thread, and return the results in order."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(lambda task: task(), tasks))


def ask_at_once(urls: Iterable[str], key: str) -> list[Answer]:
    """Send a request to each URL at the same moment, and return the responses."""
    urls = list(urls)
    barrier = threading.Barrier(len(urls), timeout=TIMEOUT_SECONDS)

    def ask(url: str) -> Answer:
        with Client(url, key) as client:
            client.renew()
            barrier.wait()
            return client.get()

    return together([lambda url=url: ask(url) for url in urls])


def served_by_minute(answers: list[Answer]) -> list[tuple[int, int]]:
    """Return the number of requests, and of those served, for each minute."""
    minutes = [answer.headers["X-RateLimit-Reset"] for answer in answers]
    served = Counter(
        minute
        for minute, answer in zip(minutes, answers, strict=True)
        if answer.is_served
    )
    return [(asked, served[minute]) for minute, asked in Counter(minutes).items()]
