"""The only source of randomness: of ids, keys, tokens and secrets."""

from base64 import urlsafe_b64encode
from random import Random, SystemRandom

source: Random = SystemRandom()


def token(length: int) -> str:
    """Return that many random bytes as a text that may stand in a URL."""
    return urlsafe_b64encode(source.randbytes(length)).rstrip(b"=").decode()
