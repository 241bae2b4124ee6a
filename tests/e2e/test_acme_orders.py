"""A name that cannot be proved costs the operator's ACME account few orders."""

import re
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.e2e.authority import authority, dns
from tests.harness.front import Front, caddy
from tests.harness.listening import listening
from tests.harness.servers import free_port
from tests.harness.waiting import wait_until

FAILED = "will retry"  # in Caddy's log, after each attempt
ORDER = "POST /order-plz"  # in Pebble's


class Allowed(BaseHTTPRequestHandler):
    """Allows a certificate for every name, as if a project had verified it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def attempt(front: Front) -> None:
    """Ask for a certificate, whatever becomes of it."""
    with suppress(OSError):
        front.get("shop.example.org")


def test_attempt_that_fails_costs_two_orders(tmp_path: Path):
    allowed = ThreadingHTTPServer(("127.0.0.1", 0), Allowed)
    asked = f"127.0.0.1:{allowed.server_port}"
    settings = {"PETSTORE_UPSTREAMS": asked, "PETSTORE_ASK": asked}
    with (
        listening(allowed),
        dns(tmp_path / "dns.log") as names,
        # It cannot reach the ports at which it validates names.
        authority(tmp_path, names, free_port(), free_port()) as pebble,
    ):
        front = Front.anywhere(pebble.issued_root)
        with caddy(tmp_path / "caddy", front, pebble.caddy_options, settings):
            Thread(target=attempt, args=(front,), daemon=True).start()
            log = tmp_path / "caddy" / "caddy.log"
            wait_until(lambda: FAILED in log.read_text(), "no attempt has failed")
    orders = re.findall(ORDER, (tmp_path / "pebble.log").read_text())
    assert len(orders) == 2
