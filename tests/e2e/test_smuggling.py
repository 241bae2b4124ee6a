"""Behind a real proxy, no client gets the response to another client's request."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection

import pytest

from tests.e2e.conftest import World
from tests.harness.front import BASE, Front
from tests.harness.smuggling import smuggled

AT_ONCE = 8
PATIENCE_SECONDS = 1.0  # many cases are half a request, and get no response
ID = re.compile(rb"\r\nX-Request-ID: (\d+-(?:outer|inner|after))\r\n", re.IGNORECASE)
GET = (
    "GET /v1/pets?limit=1 HTTP/1.1\r\nHost: {host}\r\n"
    "Authorization: Bearer {key}\r\nX-Request-ID: {id}\r\n\r\n"
)


@pytest.mark.parametrize("front", ["caddy", "nginx without buffers"], indirect=True)
def test_each_client_gets_only_its_own_responses(world: World, front: Front):
    slug = world.flask("projects", "create", "Smugglers", "--plan", "business")
    key = world.flask("keys", "create", "--project", slug)

    def attack(number: int) -> int:
        ids = [f"{number}-{which}" for which in ("outer", "inner", "after")]
        case = [*smuggled(BASE, key, *ids[:2])][number]
        after = GET.format(host=BASE, key=key, id=ids[2])
        with closing(HTTPConnection(BASE)) as honest:
            honest.sock = connect(front)
            own = ids_of_all(front, case.content + after.encode())
            assert own == [each for each in ids if each in own], case.name
            honest.request("GET", "/healthz", headers={"X-Request-ID": "honest"})
            with honest.getresponse() as answer:
                assert answer.headers["X-Request-ID"] == "honest", case.name
        return len(own)

    count = len([*smuggled(BASE, key, "", "")])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert sum(pool.map(attack, range(count))) > 20


def connect(front: Front) -> socket.socket:
    connection = front.connection(BASE)
    connection.connect()
    return connection.sock


def ids_of_all(front: Front, sent: bytes) -> list[str]:
    """Send the bytes and return the ids of all responses."""
    received = b""
    with closing(connect(front)) as client:
        client.settimeout(PATIENCE_SECONDS)
        # The proxy may close the connection before everything is sent.
        with suppress(OSError):
            client.sendall(sent)
        with suppress(OSError):
            while part := client.recv(65536):
                received += part
                if received.count(b"-after\r\n"):
                    break
    return [found.decode() for found in ID.findall(received)]
