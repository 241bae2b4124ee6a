"""Serve in a network of this process's own, and ask each address of the host.

`unshare --net` runs this. The arguments are settings of the network: files below
/proc/sys/net/ipv6, as NAME=value.
"""

import fcntl
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

from tests.harness.clients import Client
from tests.harness.servers import running

PORT = 8000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # of Linux


def main(*settings: str) -> None:
    with socket.socket() as any_socket:
        up = struct.pack("16sH14x", b"lo", IFF_UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, up)
    for name, value in (setting.split("=") for setting in settings):
        Path("/proc/sys/net/ipv6", name).write_text(value)
    with running([sys.executable, "-m", "gunicorn", "wsgi:app"], PORT, "/dev/stdout"):
        for host in ("127.0.0.1", "[::1]"):
            with suppress(OSError), Client(f"http://{host}:{PORT}", "") as client:
                client.get("/v1/pets")


if __name__ == "__main__":
    main(*sys.argv[1:])
