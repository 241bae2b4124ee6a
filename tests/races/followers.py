"""A client that reads each animal once, as it is added."""

import threading

from tests.harness.clients import PAGE, PETS, Client


def follow(client: Client, seen: list[int], has_ended: threading.Event) -> None:
    """Poll for animals after the last one until writing has ended; record their ids."""
    while True:
        is_last, after = has_ended.is_set(), seen[-1] if seen else 0
        page = client.get(f"{PETS}?after={after}&limit={PAGE}").json
        seen += [pet["id"] for pet in page]
        if is_last and not page:
            return
