"""Synchronous code that awaits while the event loop goes on.

A request runs in a greenlet of its own. Where it has to wait, it hands an awaitable to
the event loop, which works on other requests meanwhile and resumes it with the result.
Where no loop runs a request (commands, threads, other servers), the same call waits.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")


# What a call hands over when it has ended; everything else is to be awaited.
_END = object()
MAX_IDLE_GREENLETS = 64


class _Awaiting(greenlet):
    """A greenlet that switches to its parent to have an awaitable awaited.

    It is kept for the next call: a new one costs a fifth of a request, since Python
    asks the system for its stack.
    """

    def run(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        """Call one function after the other."""
        while True:
            function(*arguments)
            if len(_per_thread.idle) < MAX_IDLE_GREENLETS:
                _per_thread.idle.append(self)
            function, arguments = self.parent.switch(_END)


class _PerThread(threading.local):
    """What each thread keeps."""

    def __init__(self) -> None:
        self.idle: list[_Awaiting] = []


_per_thread = _PerThread()


def start(function: Callable[..., None], *arguments: Any) -> asyncio.Task[None] | None:
    """Call a function that may wait; to be called from the event loop itself.

    Returns the task that finishes the call, or None where it has finished already.
    """
    call = _per_thread.idle.pop() if _per_thread.idle else _Awaiting()
    awaitable = call.switch(function, arguments)
    if awaitable is _END:
        return None
    return asyncio.get_running_loop().create_task(_finish(call, awaitable))


async def _finish(call: greenlet, awaitable: Any) -> None:
    while awaitable is not _END:
        try:
            result = await awaitable
        except BaseException as error:  # noqa: BLE001 (the call is to handle it)
            awaitable = call.throw(error)
        else:
            awaitable = call.switch(result)


def start_in_background(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function that may wait, while the caller goes on."""
    if can_await():
        loop = asyncio.get_running_loop()
        loop.call_soon(_start_and_keep_task, function, arguments)
    else:
        threading.Thread(target=function, args=arguments, daemon=True).start()


def _start_and_keep_task(
    function: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    task = start(function, *arguments)
    if task:
        _background_tasks.add(task)  # the loop itself does not keep it alive
        task.add_done_callback(_background_tasks.discard)


_background_tasks: set[asyncio.Task[None]] = set()


def can_await() -> bool:
    """Whether the caller runs in an event loop that goes on while it waits."""
    return isinstance(getcurrent(), _Awaiting)


def wait(awaitable: Awaitable[Result]) -> Result:
    """The result of an awaitable; raises what it raises."""
    current = getcurrent()
    if isinstance(current, _Awaiting):
        result: Result = current.parent.switch(awaitable)
        return result
    loop = _background.loop()
    return asyncio.run_coroutine_threadsafe(_await(awaitable), loop).result()


def run_in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that blocks, in a thread where the event loop must go on."""
    if not can_await():
        return function(*arguments)
    return wait(asyncio.get_running_loop().run_in_executor(None, function, *arguments))


async def _await(awaitable: Awaitable[Result]) -> Result:
    return await awaitable


class _Background:
    """An event loop in a thread, for callers that have none; made when first used."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Have none; a thread does not live on in a child process."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            return self._loop


_background = _Background()
os.register_at_fork(after_in_child=_background.reset)
