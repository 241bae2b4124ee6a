"""Run functions and requests concurrently, each in its own thread."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from tests.harness import databases
from tests.harness.clients import TIMEOUT_SECONDS, Answer, Client


def at_once(function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """Call the function with each argument at the same moment; return the results."""
    arguments = list(arguments)
    ready = threading.Barrier(len(arguments), timeout=TIMEOUT_SECONDS)

    def run(argument: Any) -> Any:
        ready.wait()
        try:
            return function(argument)
        finally:
            databases.close()

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def send_at_once(urls: Iterable[str], key: str) -> list[Answer]:
    """Send a request to each URL at the same moment, and return the responses."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(url, key)) for url in urls]
        for client in clients:
            client.renew()
        return at_once(Client.get, clients)


def served_by_minute(answers: list[Answer]) -> list[tuple[int, int]]:
    """Return the number of requests, and of those served, for each minute."""
    minutes = [answer.headers["X-RateLimit-Reset"] for answer in answers]
    served = Counter(
        minute
        for minute, answer in zip(minutes, answers, strict=True)
        if answer.is_served
    )
    return [(sent, served[minute]) for minute, sent in Counter(minutes).items()]
