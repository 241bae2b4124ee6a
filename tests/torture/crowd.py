"""A crowd of clients that send at once; trials.py starts it.

It runs as a process of a low priority, since clients do not live on the machine of the
service. It connects, prints a line, and begins when it receives one. At last it prints
how often each status was received.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice

ADDRESSES = 8  # of 127/8
CONNECTING_AT_ONCE = 50
NO_ANSWER = 0
MOST_BYTES = 1 << 20  # of a head, or of a part of a body
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Crowd:
    """What all clients of a crowd do."""

    port: int
    requests: list[str]  # of which each client has one
    size: int
    seconds: float = 0.0  # for which they go on; 0: each sends one request

    async def connect(self, room: asyncio.Semaphore, number: int) -> Streams:
        """Connect the client with that number."""
        address = f"127.0.1.{1 + number % ADDRESSES}"
        async with room:
            return await asyncio.open_connection(
                "127.0.0.1", self.port, limit=MOST_BYTES, local_addr=(address, 0)
            )

    async def play(self, streams: Streams, request: bytes) -> list[int]:
        """Be one client, and return the statuses that it receives."""
        statuses: list[int] = []
        try:
            async with asyncio.timeout(self.seconds or None):
                statuses.append(await ask(*streams, request))
                while self.seconds:
                    statuses.append(await ask(*streams, request))
        except TimeoutError:
            pass  # it is the end
        except (OSError, asyncio.IncompleteReadError):
            statuses.append(NO_ANSWER)
        streams[1].close()
        return statuses


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> int:
    """Send a request, read the whole response, and return its status."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, length = head.lower().partition(b"content-length: ")
    if length:
        await reader.readexactly(int(length.split(b"\r\n")[0]))
    else:
        with suppress(asyncio.LimitOverrunError):
            await reader.readuntil(b"\r\n0\r\n\r\n")
    return int(head.split(maxsplit=2)[1])


async def main(crowd: Crowd) -> None:
    """Be the crowd, once."""
    os.nice(19)
    room = asyncio.Semaphore(CONNECTING_AT_ONCE)
    connecting = (crowd.connect(room, number) for number in range(crowd.size))
    clients = await asyncio.gather(*connecting)
    print("connected", flush=True)
    sys.stdin.readline()
    requests = islice(cycle(crowd.requests), crowd.size)
    playing = [
        crowd.play(client, request.encode("latin-1"))
        for client, request in zip(clients, requests, strict=True)
    ]
    statuses = await asyncio.gather(*playing)
    print(json.dumps(Counter(status for each in statuses for status in each)))


if __name__ == "__main__":
    asyncio.run(main(Crowd(**json.loads(sys.argv[1]))))
