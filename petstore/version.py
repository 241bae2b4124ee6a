"""Two versions: of the service, which grows, and of the interface, which is fixed."""

# The release, as CHANGELOG.md tells it; setup.cfg reads it here.
SERVICE = "1.0.0"
# What the interface description carries (specification section 9). It stays as long as
# /v1 does, whatever the service becomes.
INTERFACE = "1.0.0"
