"""The version of the service, and the version of its interface."""

# The release, described in CHANGELOG.md.
SERVICE = "1.0.0"
# The version in the interface description (specification section 9). It stays the same
# as long as /v1 does.
INTERFACE = "1.0.0"
