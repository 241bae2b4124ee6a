"""Plans are data: the table in petstore/models/plans.py is all that names them."""

from petstore.models.plans import PLANS, Quota


def test_plan_limits_match_the_specification():
    assert {name: terms.quota for name, terms in PLANS.items()} == {
        "free": Quota.of(60, 1_000),
        "pro": Quota.of(300, 10_000),
        "business": Quota.of(1_000, 100_000),
        "enterprise": None,
    }
