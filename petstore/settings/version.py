"""The version of the service, and the version of its interface."""

# That of the service, described in CHANGELOG.md.
RELEASE = "1.1.0"
# The version in the interface description (specification section 9). It stays the same
# as long as /v1 does.
INTERFACE = "1.0.0"
