"""What is allowed in a minute and in a day beside the plans, such as pages."""

from petstore.models.plans import FREE, Quota, quota_of

# Of one address (IPv6: its /64): requests without a valid key, and failed sign-ins.
STRANGERS = quota_of(FREE)
FAILED_SIGN_INS = Quota.parse("10/minute;100/day")
# An IPv6 /48, which has 65,536 /64, is allowed so many times as much.
SITE_FACTOR = 10

# On the dashboard.
PAGES = Quota.parse("120/minute;5000/day")  # of one project, over all its sessions
SIGN_INS = Quota.parse("60/minute;1000/day")  # of one project, over all its keys
# Of one key, for signing in and for the pages of keys, when its project has used up the
# quota: whoever has another key of the project cannot keep this one from revoking it.
RESERVE = Quota.parse("20/minute;60/day")
