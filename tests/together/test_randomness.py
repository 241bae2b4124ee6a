"""What must not be guessed is random enough, and from the operating system."""

import math
from random import SystemRandom

from petstore import randomness
from petstore.extensions.dashboard import models as sessions
from petstore.extensions.hosting import models as domains
from petstore.models import secrets
from petstore.models.credentials import ALPHABET, SECRET_LENGTH

BITS = 128


def test_what_must_not_be_guessed_has_128_bits_of_the_systems_randomness():
    assert type(randomness.source) is SystemRandom
    assert math.log2(len(ALPHABET)) * SECRET_LENGTH > BITS
    for length in (sessions.TOKEN_BYTES, secrets.SECRET_BYTES, domains.TOKEN_BYTES):
        assert length * 8 >= BITS
