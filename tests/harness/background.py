"""Wait for the background work of a verifier."""

from petstore.hosting.verifier import Verifier
from tests.harness.waiting import wait_until


def finish_background(verifier: Verifier) -> None:
    """Wait until the verifier has nothing left to do in the background."""
    wait_until(lambda: verifier.is_idle, "the verifier is busy")
