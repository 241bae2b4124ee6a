"""All campaigns, in the order in which they are run."""

from tests.harness.campaign import Campaign
from tests.torture import floods, hostile_tenants, mutations
from tests.torture.deeds import DEEDS
from tests.torture.events import EVENTS
from tests.torture.kills import KILLS
from tests.torture.migrations import MIGRATIONS
from tests.torture.months import MONTHS
from tests.torture.outages import OUTAGES
from tests.torture.power import POWER
from tests.torture.quotas import QUOTAS
from tests.torture.restarts import RESTARTS
from tests.torture.stalls import STALLS
from tests.torture.trials import NOBODY_STOPS_ANOTHER
from tests.torture.web_page_keys import WEB_PAGE_KEYS

CAMPAIGNS: tuple[Campaign, ...] = (
    *KILLS,
    *POWER,
    *OUTAGES,
    *RESTARTS,
    Campaign("mutated requests", 1_000_000, 20_000, mutations.play),
    Campaign("hostile tenants", 20_000, 1_000, hostile_tenants.play),
    *WEB_PAGE_KEYS,
    *floods.FLOODS,
    *NOBODY_STOPS_ANOTHER,
    *STALLS,
    *MONTHS,
    *QUOTAS,
    *DEEDS,
    *EVENTS,
    *MIGRATIONS,
)
