"""An event loop whose clock a test moves."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tests.harness.waiting import WITHIN_SECONDS

MOST_MOVES = 100_000


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still, and which counts what it calls."""

    now = 0.0
    calls = 0

    def time(self) -> float:
        return self.now

    def call_soon(self, *arguments: Any, **options: Any) -> asyncio.Handle:
        self.calls += 1
        return super().call_soon(*arguments, **options)

    def call_at(self, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        self.calls += 1
        return super().call_at(*arguments, **options)


async def move_clock(seconds: float) -> None:
    """Move the clock of the running loop, and let it do what is due."""
    asyncio.get_running_loop().now += seconds
    await settle()


async def settle() -> None:
    """Let the running loop do what is due."""
    for _ in range(3):
        await asyncio.sleep(0)


async def move_clock_until(is_so: Callable[[], object], seconds: float) -> None:
    """Move the clock of the running loop by such steps until the condition holds."""
    for _ in range(MOST_MOVES):
        if is_so():
            return
        await move_clock(seconds)
    raise AssertionError(f"it is false after {MOST_MOVES} steps")


async def go_on_until(is_so: Callable[[], object], pause: float = 0.0) -> None:
    """Let the running loop go on until the condition holds, or fail after a minute."""
    started = time.monotonic()
    while time.monotonic() - started < WITHIN_SECONDS:
        if is_so():
            return
        await asyncio.sleep(pause)
    raise AssertionError(f"it is false for {WITHIN_SECONDS} seconds")
