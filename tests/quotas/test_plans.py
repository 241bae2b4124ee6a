"""Plans are data: the table in petstore/models/plans.py is all that names them."""

from petstore.models.plans import PLANS
from petstore.quotas.quotas import Quota


def test_plan_limits_match_the_specification():
    assert {name: terms.quota for name, terms in PLANS.items()} == {
        "free": "60/minute;1000/day",
        "pro": "300/minute;10000/day",
        "business": "1000/minute;100000/day",
        "enterprise": "",
    }


def test_policy_names_both_windows_with_their_lengths():
    assert Quota.parse("60/minute;1000/day").policy == (
        '"minute";q=60;w=60, "day";q=1000;w=86400'
    )
