"""Plans are data: the table in petstore/models/plans.py is all that names them."""

import pytest

from petstore.models.plans import PLANS, Quota


def test_plan_limits_match_the_specification():
    assert {name: terms.quota for name, terms in PLANS.items()} == {
        "free": Quota.of(60, 1_000),
        "pro": Quota.of(300, 10_000),
        "business": Quota.of(1_000, 100_000),
        "enterprise": None,
    }


@pytest.mark.parametrize(
    "text",
    [
        "60/minute",
        "1000/day;60/minute",
        "9/second;1000/day",
        "60/2 minute;1000/day",
        "1/minute;2/hour;3/day",
        "0/minute;1000/day",
    ],
)
def test_quota_with_other_windows_is_refused_in_words(text: str):
    with pytest.raises(ValueError, match="a limit a minute and one a day"):
        Quota.parse(text)
