"""Run functions and requests concurrently, each in its own thread."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
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
            databases.disconnect()

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


@contextmanager
def going_on(*functions: Callable[[threading.Event], object]) -> Iterator[None]:
    """Run the functions in threads; they end when the event is set, with the block."""
    has_ended = threading.Event()
    with ThreadPoolExecutor(len(functions)) as pool:
        running = [pool.submit(function, has_ended) for function in functions]
        try:
            yield
        finally:
            has_ended.set()
    for each in running:
        each.result()  # raises what the function has raised


def race(clients: list[Client], requests: list[tuple]) -> list[Any]:
    """Send each client's request at the same moment; return the sorted outcomes."""
    for client in clients:
        client.renew()
    pairs = zip(clients, requests, strict=True)
    answers = at_once(lambda pair: pair[0].send(*pair[1]), pairs)
    return sorted((answer.outcome for answer in answers), key=str)


def send_at_once(urls: Iterable[str], key: str) -> list[Answer]:
    """Send a request to each URL at the same moment, and return the responses."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(url, key)) for url in urls]
        for client in clients:
            client.renew()
        return at_once(Client.get, clients)


def by_window(answers: Iterable[Answer]) -> list[list[Answer]]:
    """Return the responses of each minute, or of each UTC day, which limits them."""
    windows: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        windows[answer.headers["X-RateLimit-Reset"]].append(answer)
    return list(windows.values())


def are_counted(answers: Iterable[Answer], limit: int) -> bool:
    """Return whether each request has the next number of its window, from one."""
    return all(
        int(answer.headers["X-RateLimit-Remaining"]) == limit - number
        for window in by_window(answers)
        for number, answer in enumerate(window, start=1)
    )
