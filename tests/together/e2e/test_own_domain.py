"""A custom domain in the browser and through Caddy, from upgrade to removal."""

import ssl

import pytest
from playwright.sync_api import Page, expect

from tests.harness.clients import PETS, Client
from tests.together.e2e.conftest import World
from tests.together.e2e.people import (
    BASE,
    add_domain,
    require_accessible,
    sign_in,
    verify,
)

SHOP, OLD = "shop.example.org", "old.example.org"


def test_custom_domain_is_added_used_and_removed(world: World, page: Page):
    slug = world.flask("projects", "create", "Shelter")
    key = world.flask("keys", "create", "--project", slug)
    target, bearer = f"{slug}.{BASE}", {"Authorization": f"Bearer {key}"}

    sign_in(page, key)
    page.get_by_role("link", name="Domains", exact=True).click()
    expect(page.get_by_text("come with the plan Pro and above")).to_be_visible()
    expect(page.get_by_role("textbox", name="Domain")).to_have_count(0)
    require_accessible(page)

    world.flask("projects", "change", slug, "--plan", "pro")
    add_domain(page, SHOP)
    expect(page.get_by_text(target, exact=True)).to_be_visible()
    verify(page, f"{SHOP} has no CNAME record")
    expect(page.get_by_text("Not verified")).to_be_visible()
    require_accessible(page)
    with pytest.raises(ssl.SSLError):
        world.front.get(SHOP)

    world.dns.put_cname(SHOP, target)
    verify(page, f"DNS is right: {SHOP} is yours.")
    # The page refreshes itself, so no click is needed.
    expect(page.get_by_text("Active from Pebble")).to_be_visible()
    require_accessible(page)
    answer = world.front.get(SHOP, **bearer)
    assert (answer.status, answer.json) == (200, [])

    add_domain(page, OLD)
    world.dns.put_cname(OLD, target)
    verify(page, f"DNS is right: {OLD} is yours.")
    expect(page.get_by_text("Active from Pebble")).to_be_visible()
    moved = world.front.get(OLD, "/v1/pets?limit=1")
    assert moved.status == 301
    assert moved.headers["Location"] == f"https://{SHOP}/v1/pets?limit=1"
    assert moved.headers["Cache-Control"] == "no-store"

    page.get_by_role("button", name="Make primary").click()
    expect(page.get_by_text(f"redirect to {OLD} now")).to_be_visible()
    assert world.front.get(OLD, **bearer).status == 200
    assert world.front.get(SHOP).headers["Location"] == f"https://{OLD}/v1/pets"

    page.get_by_text("Remove this domain").click()
    page.get_by_label("A full key of this project").fill(key)
    page.get_by_role("button", name="Remove the domain").click()
    expect(page.get_by_text(f"{OLD} is removed")).to_be_visible()
    assert [direct(world, number, OLD) for number in (0, 1)] == [421, 421]
    assert [direct(world, number, SHOP) for number in (0, 1)] == [401, 401]
    # Caddy keeps its certificate, but one without it can get none now.
    assert world.front.get(OLD, **bearer).status == 421
    assert [direct(world, number, BASE, tls_allowed(OLD)) for number in (0, 1)] == [
        404,
        404,
    ]


def tls_allowed(name: str) -> str:
    return f"/internal/tls-allowed?domain={name}"


def direct(world: World, number: int, host: str, path: str = PETS) -> int | None:
    """Return the status of a request sent directly to one instance."""
    with Client(world.instances[number].url, "") as client:
        return client.get(path, Host=host).status
