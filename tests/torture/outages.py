"""The campaigns that break the stores behind the service."""

from tests.torture import cluster_outages, counter_outages, database_outages
from tests.torture.campaign import Campaign

OUTAGES = (
    Campaign("counter outages", 30, 5, counter_outages.play),
    Campaign("lost cluster nodes", 10, 2, cluster_outages.play),
    Campaign("database outages", 20, 5, database_outages.play),
)
