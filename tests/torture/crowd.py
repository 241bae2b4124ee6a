"""A crowd of clients that send a request each at once; crowds.py starts it.

It runs as a process: it connects, prints a line, and sends when it receives one. Its
members stay until they are answered, or hang up, half of them with a reset. Then it
prints how often each status was received.
"""

import asyncio
import json
import random
import resource
import socket
import struct
import sys
from collections import Counter

import uvloop

from petstore.models.credentials import new_key
from tests.harness.wire import get, post
from tests.torture.strangers import HOST, TRUSTING

CONNECTING_AT_ONCE = 50
SENT_SECONDS = 0.1  # until what was sent has left, before a client hangs up
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: on, for no time
PET = b'{"name": "Rex", "categoryId": 1}'
FORGED = "forged"  # in place of a key: one with a right checksum that nobody has issued


class Member:
    """A client with a connection and a request of its own."""

    def __init__(self, place: tuple[int, bool], key: str, seed: str) -> None:
        self._port, self._is_encrypted = place
        self._dice = random.Random(seed)
        key = new_key() if key == FORGED else key
        adds = self._dice.random() < 0.5
        sent = post(key, f"Content-Length: {len(PET)}") + PET if adds else get(key)
        self._request = sent.replace(b"Host: x", b"Host: %s" % HOST.encode())

    async def connect(self) -> None:
        """Open the connection."""
        tls = {"ssl": TRUSTING, "server_hostname": HOST} if self._is_encrypted else {}
        opened = asyncio.open_connection("127.0.0.1", self._port, **tls)
        self._reader, self._writer = await opened

    async def ask(self) -> int:
        """Ask, and return the status of the answer; 0 if there is none."""
        self._writer.write(self._request)
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError):
            return 0
        return int(head.split(maxsplit=2)[1])

    async def ask_and_leave(self) -> None:
        """Ask, and hang up before the answer can have come."""
        self._writer.write(self._request)
        await asyncio.sleep(SENT_SECONDS)
        if self._dice.random() < 0.5:
            client = self._writer.get_extra_info("socket")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._writer.transport.abort()


async def main(sent: dict) -> None:
    """Be the crowd, once."""
    place = sent["port"], sent["is_encrypted"]
    seeds = (f"{sent['seed']} {number}" for number in range(sent["size"]))
    crowd = [Member(place, sent["key"], seed) for seed in seeds]
    room = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def connect(member: Member) -> None:
        async with room:
            await member.connect()

    await asyncio.gather(*map(connect, crowd))
    print("connected", flush=True)
    sys.stdin.readline()
    if not sent["stays"]:
        await asyncio.gather(*map(Member.ask_and_leave, crowd))
        print("{}", flush=True)
        return
    asked = [asyncio.create_task(member.ask()) for member in crowd]
    answered, waiting = await asyncio.wait(asked, timeout=sent["seconds"])
    statuses = Counter(task.result() for task in answered)
    print(json.dumps(statuses | {"waiting": len(waiting)}), flush=True)


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    uvloop.run(main(json.loads(sys.argv[1])))
