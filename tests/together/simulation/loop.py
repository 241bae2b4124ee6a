"""gevent's event loop in virtual time: its watchers see only simulated sockets.

The hub, its greenlets, locks, timeouts and sockets are gevent's own; this takes the
place of libev. What is ready is delayed and shuffled by dice from the seed.
"""

import heapq
import itertools
import math
import sys
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, Self

import gevent.hub
from gevent._ffi import callback
from gevent._hub_local import set_hub, set_loop
from greenlet import GreenletExit

from tests.together.simulation.network import Network
from tests.together.simulation.world import Stuck, World

HOLD_CHANCE = 0.05
HOLD_SECONDS = 0.004


class Killed(BaseException):
    """The worker has been killed: none of its code runs any more."""


class Watcher:
    """Calls back when it fires."""

    pending = False
    callback: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()

    def __init__(self, loop: "Loop", ref: bool = True, priority: int | None = None):
        self.loop, self.ref, self.priority = loop, ref, priority or 0

    @property
    def active(self) -> bool:
        return self.callback is not None

    def start(self, callback: Callable[..., Any], *args: Any, **_options: Any) -> None:
        self.callback, self.args = callback, args

    def stop(self) -> None:
        self.callback, self.args = None, ()

    def close(self) -> None:
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fire(self, *events: int) -> None:
        self.loop.call(self, self.callback, (*events, *self.args))

    def send(self, *_: object) -> None:
        """Fire soon: that is how another thread wakes the loop."""
        self.loop.run_callback(lambda: self.active and self.fire())


class Io(Watcher):
    """Fires while a socket is ready."""

    def __init__(self, loop: "Loop", fd: int, events: int, *more: Any, **named: Any):
        super().__init__(loop, *more, **named)
        self.fd, self.events, self._passes = fd, events, False

    def start(
        self, callback: Callable[..., Any], *args: Any, pass_events: bool = False
    ) -> None:
        super().start(callback, *args)
        self._passes = pass_events
        self.loop.watch(self)

    def stop(self) -> None:
        super().stop()
        self.loop.ignore(self)

    def fire(self, *events: int) -> None:
        super().fire(*events if self._passes else ())


class Timer(Watcher):
    """Fires once, or again and again."""

    _turn = 0  # of what is in the loop's heap, one may be this timer's

    def __init__(
        self, loop: "Loop", after: float, repeat: float = 0.0, *more: Any, **named: Any
    ):
        super().__init__(loop, *more, **named)
        self._after, self._repeat = after, repeat

    @property
    def active(self) -> bool:
        return self._turn > 0

    def start(self, callback: Callable[..., Any], *args: Any, **_options: Any) -> None:
        super().start(callback, *args)
        self._turn = self.loop.push(max(0.0, self._after), self)

    again = start

    def stop(self) -> None:
        super().stop()
        self._turn = 0

    def is_due_by(self, turn: int) -> bool:
        return self._turn == turn

    def fire(self, *_events: int) -> None:
        self._turn = self.loop.push(self._repeat, self) if self._repeat else 0
        super().fire()
        if not self._turn:
            self.stop()


class Loop:
    """One worker's loop; it is what the hub runs."""

    MINPRI, MAXPRI = -2, 2
    approx_timer_resolution = 0.0
    default = True
    on_error: Callable[..., None]

    def __init__(self, world: World, network: Network, name: str) -> None:
        self.world, self._network = world, network
        self._dice = world.dice(name)
        self._calls: deque[Any] = deque()
        self._timers: list[tuple[float, int, Timer]] = []
        self._turns = itertools.count(1)
        self._io: dict[int, list[Io]] = {}
        self._candidates: dict[int, None] = {}  # descriptors that may be ready
        self._held: dict[int, float] = {}  # until when
        self.is_killed = False
        network.on_ready = self._look_at

    def run(self) -> None:
        """Run until it is killed."""
        while True:
            while self._calls and not self.is_killed:
                each = self._calls.popleft()
                callback, args, each.callback = each.callback, each.args, None
                if callback is not None:
                    self.call(each, callback, args)
                each.args = None
            self.world.advance(self._first_timer(), self._is_wanted)
            if self.is_killed:
                raise Killed
            self._fire()

    def kill(self) -> None:
        """Let no code of the worker run any more."""
        self.is_killed = True

    def _is_wanted(self) -> bool:
        return self.is_killed or bool(self._calls) or bool(self._ready())

    def _fire(self) -> None:
        """Fire what is ready, in any order among those of the same priority."""
        ready: list[tuple[Watcher, int]] = list(self._ready())
        while self._first_timer() <= self.world.now:
            ready.append((heapq.heappop(self._timers)[2], 0))
        self._dice.shuffle(ready)
        ready.sort(key=lambda each: -each[0].priority)
        for watcher, events in ready:
            if watcher.active:
                self._held.pop(getattr(watcher, "fd", 0), None)
                self.world.hash(type(watcher).__name__, getattr(watcher, "fd", 0))
                watcher.fire(events)

    def _first_timer(self) -> float:
        while self._timers and not self._timers[0][2].is_due_by(self._timers[0][1]):
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else math.inf

    def push(self, after: float, timer: Timer) -> int:
        """Plan a timer; return its turn."""
        turn = next(self._turns)
        heapq.heappush(self._timers, (self.world.now + after, turn, timer))
        self.world.hash("timer", after)
        return turn

    def watch(self, watcher: Io) -> None:
        self._io.setdefault(watcher.fd, []).append(watcher)
        self._look_at(watcher.fd)

    def ignore(self, watcher: Io) -> None:
        there = self._io.get(watcher.fd, [])
        if watcher in there:
            there.remove(watcher)
        if not there:
            self._io.pop(watcher.fd, None)
            self._held.pop(watcher.fd, None)

    def _look_at(self, fd: int) -> None:
        self._candidates[fd] = None

    def _ready(self) -> list[tuple[Io, int]]:
        ready = []
        for fd in list(self._candidates):
            events = self._network.ready_events(fd)
            found = [(each, each.events & events) for each in self._io.get(fd, ())]
            found = [each for each in found if each[1]]
            if not found:
                del self._candidates[fd]
            elif not self._is_held(fd):
                ready += found
        return ready

    def _is_held(self, fd: int) -> bool:
        """Hold back what is ready for a moment, now and then."""
        if fd not in self._held:
            self._held[fd] = self.world.now
            if self._dice.random() < HOLD_CHANCE:
                seconds = self._dice.uniform(0, HOLD_SECONDS)
                self._held[fd] += seconds
                self.world.after(seconds, self._look_at, fd)
        return self._held[fd] > self.world.now

    def call(
        self, context: Any, callback: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        """Call back; an error must not end the loop."""
        try:
            callback(*args)
        except (Killed, Stuck, KeyboardInterrupt):
            raise
        except BaseException:  # noqa: BLE001 (as gevent's own loop does)
            self.on_error(context, *sys.exc_info())

    # What gevent asks of a loop.

    def run_callback(self, func: Callable[..., Any], *args: Any) -> Any:
        self.world.hash(getattr(func, "__qualname__", type(func).__name__))
        self._calls.append(callback.callback(func, args))
        return self._calls[-1]

    run_callback_threadsafe = run_callback

    def io(self, fd: int, events: int, *more: Any, **named: Any) -> Io:
        return Io(self, fd, events, *more, **named)

    def timer(self, after: float, *more: Any, **named: Any) -> Timer:
        return Timer(self, after, *more, **named)

    def async_(self, *more: Any, **named: Any) -> Watcher:
        return Watcher(self, *more, **named)

    # Nothing forks, no child ends and no signal comes; nobody here waits until idle.
    fork = signal = child = stat = check = prepare = idle = async_

    def closing_fd(self, _fd: int) -> bool:
        return False  # gevent has told those who wait for it

    def now(self) -> float:
        return self.world.now

    def update_now(self) -> None:
        pass  # time goes on only in `run`

    def _format(self) -> str:
        return "simulated"


class Hub(gevent.hub.Hub):
    """gevent's hub of one worker; it takes the place of the last one, which has ended.

    Each error in it is a fault of the service.
    """

    def __init__(self, world: World, network: Network, threads: Any, name: str) -> None:
        set_loop(None)
        super().__init__(Loop(world, network, name))
        self.loop.on_error = self.handle_error
        self.resolver, self.threadpool = Resolver(), threads
        set_hub(self)

    def handle_error(self, context: Any, kind: Any, error: Any, trace: Any) -> None:
        """Note an error of a greenlet or callback."""
        if isinstance(error, Killed | Stuck):
            raise error
        if not issubclass(kind, GreenletExit):
            lines = "".join(traceback.format_exception(kind, error, trace))
            self.loop.world.faults.append(f"no traceback: {lines[-1500:]}")


class Resolver:
    """Knows every host by its name."""

    def getaddrinfo(self, host: str, port: int, *_: Any, **__: Any) -> list[tuple]:
        return [(2, 1, 6, "", (host, port))]

    def close(self) -> None:
        pass
