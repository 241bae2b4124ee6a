"""The format of API keys: `pet_`, a public part, a secret part, a checksum."""

import hashlib
import re
import string
import zlib

from petstore import randomness

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
PAIRS = [first + last for first in ALPHABET for last in ALPHABET]  # of digits
LOOKUP_LENGTH = 12
SECRET_LENGTH = 30  # 62^30 is more than 2^178
CHECKSUM_LENGTH = 6  # 62^6 is more than 2^32

MARK = "pet_"
PREFIX_LENGTH = len(MARK) + LOOKUP_LENGTH
PREFIX_PATTERN = f"{MARK}[0-9A-Za-z]{{{LOOKUP_LENGTH}}}"

# A key in any text, such as a path; the group is its public prefix.
_KEY = re.compile(f"({PREFIX_PATTERN})[0-9A-Za-z]+")
_SHAPE = re.compile(
    f"({PREFIX_PATTERN}[0-9A-Za-z]{{{SECRET_LENGTH}}})"
    f"([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})"
)


def new_key() -> str:
    length = LOOKUP_LENGTH + SECRET_LENGTH
    body = MARK + "".join(randomness.source.choice(ALPHABET) for _ in range(length))
    return body + checksum(body)


def prefix_of(key: str) -> str | None:
    """Return the part that lists and logs show; None if the checksum is wrong."""
    shape = _SHAPE.fullmatch(key)
    if shape is None or checksum(shape[1]) != shape[2]:
        return None
    return key[:PREFIX_LENGTH]


def contains_key(text: str) -> bool:
    return bool(_KEY.search(text))


def masked(text: str) -> str:
    """Return a text in which only the prefixes of keys are left."""
    return _KEY.sub(r"\1…", text)


def digest_of(secret: str) -> bytes:
    """Return the digest that a table stores of a secret, which is random."""
    return hashlib.sha256(secret.encode()).digest()


def checksum(body: str) -> str:
    """Return the checksum with which a key ends; it tells a mistyped key."""
    rest, last = divmod(zlib.crc32(body.encode()), len(PAIRS))
    first, middle = divmod(rest, len(PAIRS))
    return PAIRS[first] + PAIRS[middle] + PAIRS[last]
