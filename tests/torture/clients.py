"""The campaigns with faulty or hostile clients."""

from tests.torture import half_sent, hostile_tenants, mutations
from tests.torture.campaign import Campaign

CLIENTS = (
    Campaign("half-sent requests", 500, 100, half_sent.play),
    Campaign("mutated requests", 1_000_000, 20_000, mutations.play),
    Campaign("hostile tenants", 20_000, 1_000, hostile_tenants.play),
)
