"""An event loop in virtual time, whose sockets are simulated."""

import asyncio
import math
import signal
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from selectors import BaseSelector, SelectorKey
from typing import Any

from tests.simulation.network import Network
from tests.simulation.world import World

HOLD_CHANCE = 0.05
HOLD_SECONDS = 0.004


class Killed(BaseException):
    """The worker has been killed: none of its code runs any more."""


class Selector(BaseSelector):
    """Lets the world go on until a socket is ready; shuffles and delays what is."""

    def __init__(self, world: World, network: Network, name: str) -> None:
        self._world = world
        self._network = network
        self._dice = world.dice(name)
        self._keys: dict[int, SelectorKey] = {}
        self._held: dict[int, float] = {}  # until when
        self.is_killed = self.is_woken = False
        self._candidates: dict[int, None] = {}  # that may be ready
        network.on_ready = self._look_at

    def register(self, fileobj: Any, events: int, data: Any = None) -> SelectorKey:
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        self._keys[number] = SelectorKey(fileobj, number, events, data)
        self._look_at(number)
        return self._keys[number]

    def unregister(self, fileobj: Any) -> SelectorKey:
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        self._candidates.pop(number, None)
        self._held.pop(number, None)
        return self._keys.pop(number)

    def get_map(self) -> Mapping[Any, SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._keys.clear()
        self._candidates.clear()

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        seconds = math.inf if timeout is None else max(timeout, 0)
        deadline = self._world.now + seconds
        self._world.advance(deadline, self._is_ready)
        if self.is_killed:
            raise Killed
        self.is_woken = False
        if ready := self._ready():
            self._dice.shuffle(ready)
            for key, _ in ready:
                self._held.pop(key.fd, None)
            self._world.hash([(key.fd, events) for key, events in ready])
        return ready

    def kill(self) -> None:
        """Let no code of the loop run any more."""
        self.is_killed = True

    def _look_at(self, number: int) -> None:
        self._candidates[number] = None

    def _is_ready(self) -> bool:
        return self.is_killed or self.is_woken or bool(self._ready())

    def _ready(self) -> list[tuple[SelectorKey, int]]:
        ready = []
        for number in list(self._candidates):
            events = 0
            if key := self._keys.get(number):
                events = key.events & self._network.ready_events(number)
            if not events:
                del self._candidates[number]
            elif not self._is_held(number):
                ready.append((key, events))
        return ready

    def _is_held(self, number: int) -> bool:
        """Hold back what is ready for a moment, now and then."""
        if number not in self._held:
            self._held[number] = self._world.now
            if self._dice.random() < HOLD_CHANCE:
                seconds = self._dice.uniform(0, HOLD_SECONDS)
                self._held[number] += seconds
                self._world.after(seconds, self._look_at, number)
        return self._held[number] > self._world.now


class Loop(BaseSelectorEventLoop):
    """asyncio's own event loop on a simulated selector."""

    def __init__(self, world: World, network: Network, name: str) -> None:
        self.world = world
        self._network = network
        self.selector = Selector(world, network, name)
        self.handlers: dict[int, Callable[[], None]] = {}
        super().__init__(self.selector)
        self.set_exception_handler(self._note_exception)

    def time(self) -> float:
        return self.world.now

    def call_soon(
        self, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        self.world.hash(getattr(callback, "__qualname__", type(callback).__name__))
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        self.world.hash(when, getattr(callback, "__qualname__", "a timer"))
        return super().call_at(when, callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        self.selector.is_woken = True
        return super().call_soon_threadsafe(callback, *args, context=context)

    async def create_connection(
        self,
        protocol_factory: Callable[[], Any],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> Any:
        connected = self.create_future()
        self._network.connect_to_server(str(host), connected)
        socket = await connected
        return await super().create_connection(protocol_factory, sock=socket)

    def add_signal_handler(
        self, sig: int, callback: Callable[..., Any], *args: Any
    ) -> None:
        self.handlers[sig] = lambda: self.call_soon_threadsafe(callback, *args)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.handlers[signal.SIGTERM]()

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        raise RuntimeError(f"threads are not simulated: {func}")

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        pass  # no thread has ever started

    def set_default_executor(self, executor: Executor) -> None:
        pass

    def _note_exception(self, _loop: Any, context: dict[str, Any]) -> None:
        self.world.faults.append(f"no traceback: {context!r}")
