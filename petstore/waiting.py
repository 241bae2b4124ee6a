"""Lets synchronous code await while the event loop goes on.

Each request runs in a greenlet. When it has to wait, it passes an awaitable to the
event loop. The loop works on other requests meanwhile, and resumes the greenlet with
the result. Without such a loop (in commands, in threads, under other servers) the same
call blocks the thread.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")


# A greenlet switches to the loop with this when its call has ended, and with an
# awaitable in all other cases.
_END = object()
MAX_IDLE_GREENLETS = 64


class _Awaiting(greenlet):
    """A greenlet that switches to its parent when it has to await something.

    It is reused: a new one costs a fifth of a request, since Python allocates a stack
    for it.
    """

    def run(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        """Call a function, then those that later calls of `start` pass."""
        while True:
            function(*arguments)
            if len(_per_thread.idle) < MAX_IDLE_GREENLETS:
                _per_thread.idle.append(self)
            function, arguments = self.parent.switch(_END)


class _PerThread(threading.local):
    """The idle greenlets of each thread."""

    def __init__(self) -> None:
        self.idle: list[_Awaiting] = []


_per_thread = _PerThread()


def start(function: Callable[..., None], *arguments: Any) -> asyncio.Task[None] | None:
    """Call a function that may wait; to be called from the event loop itself.

    Return the task that finishes the call, or None if it has finished already.
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
        except BaseException as error:  # noqa: BLE001 (the call handles it)
            awaitable = call.throw(error)
        else:
            awaitable = call.switch(result)


def start_in_background(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function that may wait, without waiting for it."""
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
        _background_tasks.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(_background_tasks.discard)


_background_tasks: set[asyncio.Task[None]] = set()


def can_await() -> bool:
    """Return whether the event loop goes on while the caller waits."""
    return isinstance(getcurrent(), _Awaiting)


def wait(awaitable: Awaitable[Result]) -> Result:
    """Return the result of an awaitable; raises what it raises."""
    current = getcurrent()
    if isinstance(current, _Awaiting):
        result: Result = current.parent.switch(awaitable)
        return result
    loop = _loop_thread.loop()
    return asyncio.run_coroutine_threadsafe(_await(awaitable), loop).result()


async def _await(awaitable: Awaitable[Result]) -> Result:
    return await awaitable


class _LoopThread:
    """An event loop in a thread, for callers without one; started at the first use."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Drop the loop: its thread does not exist in a child process."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            return self._loop


_loop_thread = _LoopThread()
os.register_at_fork(after_in_child=_loop_thread.reset)
