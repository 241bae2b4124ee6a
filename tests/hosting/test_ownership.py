"""Ownership of domains: the project with the latest proof owns the domain."""

import pytest

from petstore.models import NotFound
from petstore.models.domains import (
    DnsResult,
    Domain,
    DomainNotAllowed,
    DomainToken,
    Host,
)
from petstore.models.projects import Plan, Project
from tests.harness.crowds import at_once
from tests.harness.host_fixtures import NAME, Own
from tests.harness.limits import fill_up_domains


def owner() -> int | None:
    host = Host.of_domain(NAME)
    return host and host.project_id


@pytest.mark.parametrize("plan", [Plan("pro"), Plan("enterprise", 1, 1)])
def test_plan_must_be_pro_or_above(project: Project, plan: Plan):
    project.change_plan(Plan("free"))
    with pytest.raises(DomainNotAllowed, match="plan Pro or above"):
        Domain.add(Project.by_slug(project.slug), NAME)
    project.change_plan(plan)
    assert Domain.add(Project.by_slug(project.slug), NAME)


def test_concurrent_additions_respect_the_limit(project: Project):
    fill_up_domains(project, leave=4)
    messages = []

    def add(number: int) -> None:
        try:
            Domain.add(project, f"n{number}.example.org")
        except DomainNotAllowed as error:
            messages.append(str(error))

    at_once(add, range(12))
    assert len(Domain.all_by_name(project)) == 100
    assert messages == ["A project can have at most 100 domains."] * 8


def test_project_that_proves_the_domain_owns_it(
    project: Project, rival: Project, own: Own
):
    Domain.add(project, NAME)
    assert owner() is None
    own(rival, NAME)
    assert owner() == rival.id


def test_proof_by_another_project_takes_the_domain_over(
    shop: Domain, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    shop.choose()
    own(rival, NAME)
    assert owner() == rival.id
    lost = Domain.find(shop.project, shop.id)
    assert (lost.verified_ms, lost.is_chosen, lost.is_primary) == (None, False, False)
    assert lost.lost_ms is not None
    assert '"event":"domain_taken_over"' in capfd.readouterr().out


def test_former_owner_can_take_the_domain_back(shop: Domain, rival: Project, own: Own):
    own(rival, NAME)
    shop.record(DnsResult(True, "again"), by_owner=True)
    assert owner() == shop.project_id
    assert Domain.find(shop.project, shop.id).lost_ms is None


def test_proving_a_removed_domain_keeps_the_owner(shop: Domain, rival: Project):
    domain = Domain.add(rival, NAME)
    domain.remove()
    with pytest.raises(NotFound):
        domain.record(DnsResult(True, "too late"), by_owner=True)
    assert owner() == shop.project_id


def test_who_does_not_own_a_domain_merely_withdraws_it(
    project: Project,
    shop: Domain,
    rival: Project,
    own: Own,
    capfd: pytest.CaptureFixture,
):
    Domain.add(rival, NAME).remove()
    assert owner() == project.id
    own(rival, NAME)
    shop.remove()
    assert owner() == rival.id
    events = capfd.readouterr().out
    assert '"event":"domain_removed"' not in events
    assert events.count('"event":"domain_withdrawn"') == 2


def test_late_check_does_not_restore_the_former_owner(
    shop: Domain, rival: Project, own: Own
):
    own(rival, NAME)
    shop.record(DnsResult(True, "as it was"))
    assert owner() == rival.id


def test_concurrent_proofs_leave_one_owner(app: object):
    projects = [Project.add(f"P{n}", None, Plan("pro")) for n in range(6)]
    added = [Domain.add(project, NAME) for project in projects]
    at_once(lambda domain: domain.record(DnsResult(True, "me"), by_owner=True), added)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == 1
    assert Domain.select().where(Domain.lost_ms.is_null(False)).count() == 5


def test_each_project_has_one_lasting_token(project: Project, rival: Project):
    Domain.add(project, "a.example.org")
    token = DomainToken.of(project)
    Domain.add(project, "b.example.org")
    Domain.add(rival, "b.example.org")
    assert DomainToken.of(project) == token
    assert DomainToken.of(rival) != token
    assert len(token) == 40


def test_changes_emit_events(project: Project, own: Own, capfd: pytest.CaptureFixture):
    own(project, "older.example.org")
    domain = own(project, NAME)
    domain.choose()
    domain.remove()
    lines = capfd.readouterr().out
    for event in ("added", "verified", "primary_changed", "removed"):
        assert f'"event":"domain_{event}"' in lines
