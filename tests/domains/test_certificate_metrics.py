"""Metrics of the certificates of domains."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.domain_checks import record_certificate
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.domains.test_hosts import Own
from tests.ops.samples import Samples

FAILED = "petstore_certificates_failed"
EXPIRES = "petstore_certificate_expires_timestamp_seconds"


@pytest.fixture
def total(stranger: FlaskClient) -> Callable[[str], float]:
    return lambda name: Samples(stranger.get("/metrics").text).total(name)


def test_no_failure_or_expiry_is_reported_without_domains(
    total: Callable[[str], float], stranger: FlaskClient, project: Project
):
    assert total(FAILED) == 0
    assert EXPIRES not in stranger.get("/metrics").text


def test_earliest_expiry_is_reported(
    total: Callable[[str], float], project: Project, own: Own
):
    for number in (3, 2):
        domain = own(project, f"shop-{number}.example.org")
        record_certificate(domain, "Authority", number * 1_000_000, None)
    assert total(EXPIRES) == 2000


def test_failures_are_counted_for_served_domains_only(
    total: Callable[[str], float], project: Project, own: Own
):
    for number in (1, 2):
        domain = own(project, f"shop-{number}.example.org")
        record_certificate(domain, None, None, "refused")
    Domain.add(project, "unverified.example.org")
    assert total(FAILED) == 2
    project.change_plan(Plan("free"))
    assert total(FAILED) == 0
