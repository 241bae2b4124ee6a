"""Lets synchronous code await while the event loop goes on.

Each request runs in a greenlet. When it has to wait, it passes an awaitable to the
event loop. The loop works on other requests meanwhile, and resumes the greenlet with
the result. In other threads (commands, other servers) the same call submits the
awaitable to the event loop of the process and blocks. That loop is the worker's, or
runs in a thread of its own.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar
from weakref import WeakSet

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")


class _Awaiting(greenlet):
    """A greenlet that switches to its parent when it has to await something."""


def start(function: Callable[..., None], *arguments: Any) -> asyncio.Task[None] | None:
    """Call a function that may wait; to be called from the event loop itself.

    The call begins with an empty context: it sees no variable of another call. Return
    the task that finishes the call, or None if it has finished already.
    """
    call = _Awaiting(function)
    awaitable = call.switch(*arguments)
    if call.dead:
        return None
    return asyncio.get_running_loop().create_task(_finish(call, awaitable))


async def _finish(call: greenlet, awaitable: Any) -> None:
    while not call.dead:
        try:
            result = await awaitable
        except BaseException as error:  # noqa: BLE001 (the call handles it)
            awaitable = call.throw(error)
        else:
            awaitable = call.switch(result)


class Abandoned(Exception):
    """Nobody waits for the result of this call any more."""


def abandon(task: asyncio.Task[None]) -> None:
    """End the wait of a call in a queue, now or as soon as it enters one.

    Whatever else the call awaits goes on: others may share it, or it must end in order.
    """
    _abandoned.add(task)
    place = _places.get(task)
    if place and not place.done():
        place.set_exception(Abandoned)


async def wait_in_queue(place: asyncio.Future[Result]) -> Result:
    """Await a future that nobody else awaits; raises `Abandoned` after `abandon`.

    The place is done in either case, so that whoever serves the queue passes it over.
    """
    task = asyncio.current_task()
    if task in _abandoned and not place.done():
        place.set_exception(Abandoned)
    _places[task] = place
    try:
        return await place
    finally:
        del _places[task]


_abandoned: WeakSet[asyncio.Task[None] | None] = WeakSet()
# Of each call that waits in a queue; a coroutine runs in a task, so None is no key.
_places: dict[asyncio.Task[Any] | None, asyncio.Future[Any]] = {}


def start_in_background(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in the event loop of the process, without waiting for it."""
    event_loop().call_soon_threadsafe(_start_and_keep_task, function, arguments)


def _start_and_keep_task(
    function: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    task = start(function, *arguments)
    if task:
        background_tasks.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(background_tasks.discard)


background_tasks: set[asyncio.Task[None]] = set()


class Delayed:
    """Calls a function in the background some time after `start`.

    Until then, further starts change nothing.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._is_started = False

    def start(self, seconds: float) -> None:
        """Have the function called after so many seconds."""
        if not self._is_started:
            self._is_started = True
            start_in_background(self._call, seconds)

    def _call(self, seconds: float) -> None:
        try:
            await_result(asyncio.sleep(seconds))
        finally:
            self._is_started = False
        self._function()


def can_await() -> bool:
    """Return whether the event loop goes on while the caller waits."""
    return isinstance(getcurrent(), _Awaiting)


class MustNotWait(RuntimeError):
    """A call waits where it must not; the text names the rule."""


# The rule that forbids the current call to wait, or None.
_forbidden_by: ContextVar[str | None] = ContextVar("forbidden_by", default=None)
# A method of C, since every count calls it.
waiting_forbidden_by = _forbidden_by.get


def forbid_waiting(rule: str) -> None:
    """Have `await_result` refuse, in this call or thread, until `allow_waiting`."""
    _forbidden_by.set(rule)


def allow_waiting() -> None:
    """End what `forbid_waiting` has begun; it may have ended already."""
    _forbidden_by.set(None)


def require_may_wait() -> None:
    """Raise `MustNotWait` where waiting is forbidden, even if there is no need to."""
    if rule := _forbidden_by.get():
        raise MustNotWait(rule)


def await_result(awaitable: Awaitable[Result]) -> Result:
    """Return the result of an awaitable; raises what it raises.

    Raises `MustNotWait` where waiting is forbidden, and in the event loop itself, which
    would wait for ever.
    """
    if rule := _forbidden_by.get():
        _refuse(awaitable, rule)
    current = getcurrent()
    if isinstance(current, _Awaiting):
        result: Result = current.parent.switch(awaitable)
        return result
    if _runs_loop_of_process():
        _refuse(awaitable, "an event loop never waits for itself: use `start`")
    return asyncio.run_coroutine_threadsafe(_await(awaitable), event_loop()).result()


def _refuse(awaitable: Awaitable[Any], rule: str) -> NoReturn:
    if isinstance(awaitable, Coroutine):
        awaitable.close()  # or Python would warn that nobody has awaited it
    raise MustNotWait(rule)


def _runs_loop_of_process() -> bool:
    """Return whether the event loop of the process is what this thread runs."""
    try:
        return asyncio.get_running_loop() is _main.loop
    except RuntimeError:
        return False


async def _await(awaitable: Awaitable[Result]) -> Result:
    return await awaitable  # run_coroutine_threadsafe takes only coroutines


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of the process; start one in a thread if there is none."""
    with _main.lock:
        if _main.loop is None or _main.loop.is_closed():
            _main.loop = asyncio.new_event_loop()
            _main.thread = threading.Thread(target=_main.loop.run_forever, daemon=True)
            _main.thread.start()
        return _main.loop


def use_running_loop() -> None:
    """Make the running event loop that of the process."""
    _main.loop = asyncio.get_running_loop()


def stop_event_loop() -> None:
    """Stop the loop that `event_loop` has started, before the process forks."""
    if _main.loop and _main.thread:
        _main.loop.call_soon_threadsafe(_main.loop.stop)
        _main.thread.join()
        _main.loop.close()
        _main.forget()


class _ProcessLoop:
    """The event loop of the process, and its thread unless it is the worker's."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.lock = threading.Lock()  # another thread may hold it at a fork
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None


_main = _ProcessLoop()
# The thread does not exist in a child process.
os.register_at_fork(after_in_child=_main.forget)
