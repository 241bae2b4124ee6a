"""Who has a domain: whoever proves it; one project at a time."""

from contextlib import suppress

import pytest

from petstore.models import domains
from petstore.models.domain_proofs import prove, record_finding
from petstore.models.domain_tokens import DomainToken
from petstore.models.domains import (
    MAX_DOMAINS,
    Domain,
    DomainRefused,
    NoSuchDomain,
)
from petstore.models.hosts import Host
from petstore.models.projects import Plan, Project
from tests.clocks import Clock
from tests.crowds import at_once
from tests.domains.test_hosts import Own

NAME = "shop.example.org"


def owner() -> int | None:
    host = Host.of_domain(NAME)
    return host and host.project_id


def test_any_project_may_add_a_name(project: Project, rival: Project):
    Domain.add(project, NAME)
    Domain.add(rival, NAME)
    assert owner() is None


def test_a_name_is_added_once(project: Project):
    Domain.add(project, NAME)
    with pytest.raises(DomainRefused, match="already one of your domains"):
        Domain.add(project, NAME)


def test_free_has_no_domains(project: Project):
    project.change_plan(Plan("free"))
    with pytest.raises(DomainRefused, match="plan Pro or above"):
        Domain.add(Project.by_slug(project.slug), NAME)


@pytest.mark.parametrize("plan", [Plan("pro"), Plan("enterprise", 1, 1)])
def test_pro_and_above_have(app: object, plan: Plan):
    project = Project.add("Paying", None, plan)
    assert Domain.add(project, NAME).name == NAME


def test_their_number_is_limited(project: Project):
    for number in range(MAX_DOMAINS):
        Domain.add(project, f"n{number}.example.org")
    with pytest.raises(DomainRefused, match=f"{MAX_DOMAINS} domains at most"):
        Domain.add(project, NAME)


def test_their_number_is_kept_when_many_are_added_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(domains, "MAX_DOMAINS", 4)

    def add(number: int) -> None:
        with suppress(DomainRefused):
            Domain.add(project, f"n{number}.example.org")

    at_once(add, range(12))
    assert len(Domain.page(project)) == 4


def test_the_first_to_prove_it_has_it(project: Project, rival: Project, own: Own):
    Domain.add(project, NAME)
    own(rival, NAME)
    assert owner() == rival.id


def test_another_project_takes_it_over_by_proving_it(
    project: Project, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    lost = own(project, NAME)
    lost.choose()
    own(rival, NAME)
    assert owner() == rival.id
    lost = Domain.find(project, lost.id)
    assert (lost.verified_ms, lost.is_chosen, lost.is_primary) == (None, False, False)
    assert lost.lost_ms is not None
    assert '"event":"domain_taken_over"' in capfd.readouterr().out


def test_it_may_be_taken_back(project: Project, rival: Project, own: Own):
    domain = own(project, NAME)
    own(rival, NAME)
    prove(domain, "again")
    assert owner() == project.id
    assert Domain.find(project, domain.id).lost_ms is None


def test_a_removed_domain_takes_nothing_from_anyone(
    project: Project, rival: Project, own: Own
):
    domain = Domain.add(rival, NAME)
    own(project, NAME)
    domain.remove()
    with pytest.raises(NoSuchDomain):
        prove(domain, "too late")
    assert owner() == project.id


def test_removing_what_was_never_verified_changes_nothing_for_who_has_it(
    project: Project, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    own(project, NAME)
    Domain.add(rival, NAME).remove()
    assert owner() == project.id
    events = capfd.readouterr().out
    assert '"event":"domain_removed"' not in events
    assert '"event":"domain_withdrawn"' in events


def test_who_has_lost_a_domain_removes_nothing_of_the_new_owner(
    project: Project, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    lost = own(project, NAME)
    own(rival, NAME)
    lost.remove()
    assert owner() == rival.id
    assert '"event":"domain_removed"' not in capfd.readouterr().out


def test_a_look_that_fails_takes_nothing_away(project: Project, own: Own):
    record_finding(own(project, NAME), "elsewhere", is_proved=False)
    assert owner() == project.id


def test_a_late_look_does_not_bring_it_back(project: Project, rival: Project, own: Own):
    domain = own(project, NAME)
    own(rival, NAME)
    record_finding(domain, "as it was", is_proved=True)
    assert owner() == rival.id


def test_of_many_who_prove_it_at_once_one_has_it(app: object):
    projects = [Project.add(f"P{n}", None, Plan("pro")) for n in range(6)]
    wishes = [Domain.add(project, NAME) for project in projects]
    at_once(lambda domain: prove(domain, "me"), wishes)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == 1
    assert Domain.select().where(Domain.lost_ms.is_null(False)).count() == 5


def test_dns_that_points_elsewhere_for_a_week_is_astray(
    project: Project, own: Own, clock: Clock
):
    domain = own(project, NAME)
    record_finding(domain, "elsewhere", is_proved=False)
    clock.move(days=6.9)
    record_finding(domain, "elsewhere", is_proved=False)
    assert not Domain.find(project, domain.id).is_astray
    clock.move(days=0.1)
    assert Domain.find(project, domain.id).is_astray
    record_finding(domain, "back", is_proved=True)
    assert not Domain.find(project, domain.id).is_astray


def test_the_token_is_one_for_a_project_and_stays(project: Project, rival: Project):
    Domain.add(project, "a.example.org")
    token = DomainToken.of(project)
    Domain.add(project, "b.example.org")
    Domain.add(rival, "b.example.org")
    assert DomainToken.of(project) == token
    assert DomainToken.of(rival) != token
    assert len(token) == 40


def test_another_projects_domain_is_not_there(project: Project, rival: Project):
    domain = Domain.add(project, NAME)
    with pytest.raises(NoSuchDomain):
        Domain.find(rival, domain.id)
    assert Domain.page(rival) == []


def test_changes_are_told(project: Project, own: Own, capfd: pytest.CaptureFixture):
    own(project, "older.example.org")
    domain = own(project, NAME)
    domain.choose()
    domain.remove()
    lines = capfd.readouterr().out
    for event in ("added", "verified", "primary_changed", "removed"):
        assert f'"event":"domain_{event}"' in lines
