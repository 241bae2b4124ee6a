"""A simulated Redis: the commands that the service sends, and its real scripts."""

import hashlib
from collections.abc import Callable
from typing import Any

import hiredis
from lupa.lua51 import LuaRuntime, lua_type

from tests.together.simulation.network import End
from tests.together.simulation.world import World

PATIENCE_SECONDS = 10_000.0
HITS = (b"EVAL", b"EVALSHA")
STEP_SECONDS = 0.0003  # between a command and its reply


class Redis:
    """A server whose data outlives its outages.

    It is `up`, `down` (it refuses connections), `silent` (nothing arrives and nothing
    leaves), `slow`, or answers each command with an error: `full` or `loading`.
    """

    ERRORS = {
        "full": b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "loading": b"-LOADING Redis is loading the dataset in memory\r\n",
    }

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.dice("redis")
        self._hashes: dict[str, dict[str, str]] = {}
        self._numbers: dict[str, tuple[int, int]] = {}  # each with its end, in ms
        self._scripts: dict[str, Callable[..., Any]] = {}
        self._ends: list[End] = []
        self._lua = LuaRuntime(encoding="latin-1")
        self._lua.globals().redis = self._lua.table_from({"call": self._call_from_lua})
        self.state = "up"
        self.cuts_hit = False  # the next one, before its reply

    def fail(self, state: str) -> None:
        """Change the state; a server that goes down cuts its connections."""
        self.state = state
        if state == "down":
            self._scripts.clear()
            self.cut()

    def cut(self) -> None:
        """Cut all connections."""
        ends, self._ends = self._ends, []
        for end in ends:
            end.reset()

    def accept(self, end: End) -> None:
        """Serve a connection."""
        self._ends.append(end)
        self._world.start(self._serve(end))

    async def _serve(self, end: End) -> None:
        reader = hiredis.Reader()
        while received := await end.receive(PATIENCE_SECONDS):
            reader.feed(received)
            while (command := reader.gets()) is not False:
                await self._wait_until_it_answers()
                reply = self._reply_to(command)
                if self.cuts_hit and command[0] in HITS:
                    self.cuts_hit = False
                    end.reset()
                if not await end.send(reply):
                    return
        end.finish()

    async def _wait_until_it_answers(self) -> None:
        await self._world.sleep(STEP_SECONDS)
        if self.state == "slow":
            await self._world.sleep(self._dice.uniform(0, 0.4))
        while self.state == "silent":
            await self._world.sleep(0.01)

    def _reply_to(self, command: list[bytes]) -> bytes:
        if self.state in self.ERRORS:
            return self.ERRORS[self.state]
        name, *arguments = [word.decode("latin-1") for word in command]
        return _encoded(self._run(name, arguments))

    def _run(self, name: str, arguments: list[str]) -> Any:
        if name.encode() not in HITS:
            return self._call(name, arguments)
        script, count, *rest = arguments
        if name == "EVAL":
            code = f"return function(KEYS, ARGV) {script}\nend"
            script = hashlib.sha1(script.encode()).hexdigest()
            self._scripts[script] = self._lua.execute(code)
        if script not in self._scripts:
            return ValueError("NOSCRIPT No matching script.")
        table, keys = self._lua.table_from, int(count)
        self._world.counts["hits on redis"] += 1
        return self._scripts[script](table(rest[:keys]), table(rest[keys:]))

    def _call_from_lua(self, name: str, *arguments: Any) -> Any:
        reply = self._call(name, [_text(each) for each in arguments])
        if isinstance(reply, list):
            values = [False if each is None else each for each in reply]
            return self._lua.table_from(values)
        return False if reply is None else reply

    def _call(self, name: str, arguments: list[str]) -> Any:
        if name == "TIME":
            seconds, ms = divmod(self._world.true_ms(), 1000)
            return [str(seconds), str(ms * 1000)]
        key, *more = arguments
        now_ms = self._world.true_ms()
        number, ends_ms = self._numbers.get(key, (0, 0))
        if name == "PEXPIRE":
            return 1  # no hash expires within minutes
        if name == "PTTL":
            return max(-2, ends_ms - now_ms)
        if name == "GET":
            return str(number) if ends_ms > now_ms else None
        if name in ("SET", "INCRBY"):
            if name == "SET":
                number, ends_ms = 0, now_ms + int(more[2])
            self._numbers[key] = number + int(more[0]), ends_ms
            return 1
        found = self._hashes.setdefault(key, {})
        if name == "HMGET":
            return [found.get(field) for field in more]
        if name == "HSET":
            found |= zip(more[::2], more[1::2], strict=True)
            return len(more) // 2
        self._world.faults.append(f"Redis is not simulated: {name}")
        return ValueError("ERR unknown command")


def _text(value: Any) -> str:
    """Return an argument as Redis passes it on from Lua."""
    return value if isinstance(value, str) else f"{value:.17g}"


def _encoded(reply: Any) -> bytes:
    if isinstance(reply, ValueError):
        return f"-{reply}\r\n".encode()
    if lua_type(reply) == "table":
        reply = [reply[number + 1] for number in range(len(reply))]
    if isinstance(reply, list):
        return f"*{len(reply)}\r\n".encode() + b"".join(map(_encoded, reply))
    if isinstance(reply, int | float):
        return f":{int(reply)}\r\n".encode()
    text = reply if isinstance(reply, bytes) else str(reply).encode()
    return f"${len(text)}\r\n".encode() + text + b"\r\n"
