"""Metrics of the certificates of domains."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Certificate, Domain
from petstore.models.projects import Plan, Project
from tests.harness.host_fixtures import Own
from tests.harness.samples import Samples

FAILED = "petstore_certificates_failed"
EXPIRES = "petstore_certificate_expires_timestamp_seconds"
Total = Callable[[str], float]


@pytest.fixture
def total(stranger: FlaskClient) -> Total:
    """A function that returns the value of a metric."""
    return lambda name: Samples(stranger.get("/metrics").text).total(name)


def test_earliest_expiry_is_reported(
    total: Total, stranger: FlaskClient, project: Project, own: Own
):
    assert EXPIRES not in stranger.get("/metrics").text
    for number in (3, 2):
        domain = own(project, f"shop-{number}.example.org")
        domain.record_certificate(Certificate("Authority", number * 1_000_000, None))
    assert total(EXPIRES) == 2000


def test_failures_are_counted_for_served_domains_only(
    total: Total, project: Project, own: Own
):
    assert total(FAILED) == 0
    for number in (1, 2):
        domain = own(project, f"shop-{number}.example.org")
        domain.record_certificate(Certificate(None, None, "refused"))
    Domain.add(project, "unverified.example.org")
    assert total(FAILED) == 2
    project.change_plan(Plan("free"))
    assert total(FAILED) == 0
