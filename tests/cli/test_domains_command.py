"""flask domains list."""

import json
from collections.abc import Callable

from petstore.models.domains import Certificate, Domain
from petstore.models.projects import Plan, Project
from tests.cli.outputs import refusal, table, text_of


def test_domains_are_listed_with_their_states(
    flask: Callable, own: Callable[..., Domain], project: Project
):
    shop = own(project, "shop.example.org")
    Domain.add(project, "new.example.org")
    shop.record_certificate(Certificate("Authority", 1_900_000_000_000, None))
    rows = table(flask("domains", "list"))
    assert [tuple(row.values()) for row in rows] == [
        ("new.example.org", "shelter", "not verified", "-", "-"),
        ("shop.example.org", "shelter", "verified", "active", "2030-03-17T17:46:40Z"),
    ]


def test_domain_that_was_taken_over_and_one_stopped_by_the_plan(
    flask: Callable, own: Callable[..., Domain], project: Project, rival: Project
):
    for owner in (project, rival):
        own(owner, "shop.example.org")
    rival.change_plan(Plan("free"))
    listed = json.loads(text_of(flask("domains", "list", "--json")))
    states = {domain["project"]: domain["state"] for domain in listed}
    assert states == {"shelter": "taken over", "rival": "stopped by the plan"}


def test_domains_of_one_project(flask: Callable, project: Project, rival: Project):
    for owner in (project, rival):
        Domain.add(owner, f"{owner.slug}.example.org")
    [row] = table(flask("domains", "list", "--project", "rival"))
    assert row["NAME"] == "rival.example.org"
    assert refusal(flask("domains", "list", "--project", "x")).startswith("There is no")
