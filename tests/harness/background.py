"""Wait for the background work of a verifier."""

import time

from petstore.domains.verifier import Verifier


def finish_background(verifier: Verifier) -> None:
    """Wait until the verifier has nothing left to do in the background."""
    deadline = time.monotonic() + 30
    while verifier._running:
        assert time.monotonic() < deadline
        time.sleep(0.005)
