"""An event loop whose clock a test moves."""

import asyncio
from typing import Any


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
