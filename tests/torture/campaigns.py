"""All campaigns, in the order in which they are run."""

from tests.torture.campaign import Campaign
from tests.torture.clients import CLIENTS
from tests.torture.kills import KILLS
from tests.torture.migrations import MIGRATIONS
from tests.torture.outages import OUTAGES
from tests.torture.power import POWER
from tests.torture.quotas import QUOTAS
from tests.torture.restarts import RESTARTS

CAMPAIGNS: tuple[Campaign, ...] = (
    *KILLS,
    *POWER,
    *OUTAGES,
    *RESTARTS,
    *CLIENTS,
    *QUOTAS,
    *MIGRATIONS,
)
