"""The limits are checked for their order."""

from dataclasses import replace

import pytest

from petstore.timeouts import LIMITS


def test_limits_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="read_bytes"):
        replace(LIMITS, read_bytes=LIMITS.head_bytes + 1)
