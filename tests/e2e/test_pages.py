"""The dashboard in a browser: its work, its lists, its menu, and accessibility."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import World
from tests.e2e.people import (
    BASE,
    DASHBOARD,
    WIDTH,
    add_animal,
    add_domain,
    require_accessible_everywhere,
    sign_in,
)
from tests.harness.clients import ORDERS, PETS, Client
from tests.harness.waiting import wait_until

PATHS = (
    *("", "/animals", "/animals?name=r&status=available&category=1", "/categories"),
    *("/orders", "/requests", "/keys", "/sessions", "/settings/domains", "/activity"),
    *("/animals/import", "/nowhere", "/animals?x=1", "/requests?id=x"),
)


def call(world: World, key: str, path: str, **members: object) -> int:
    """Create something over the API, and return its id."""
    with Client(world.instances[0].url, key) as client:
        answer = client.send("POST", path, members, Host=BASE)
    assert answer.status == 201
    return answer.json["id"]


def test_no_page_has_an_axe_violation(world: World, page: Page, key: str):
    page.goto(DASHBOARD)
    require_accessible_everywhere(page)
    sign_in(page, key)
    pet = call(world, key, PETS, name="Rex", categoryId=1)
    order = call(world, key, ORDERS, petId=pet)
    add_animal(page, "Luna", "9" * 20)
    require_accessible_everywhere(page)
    for path in (f"/animals/{pet}", f"/orders/{order}"):
        page.goto(f"{DASHBOARD}{path}")
        require_accessible_everywhere(page)
    for name in ("shop.example.org", "bücher.example.org"):
        add_domain(page, name)
        require_accessible_everywhere(page)
    for path in PATHS:
        page.goto(f"{DASHBOARD}{path}")
        require_accessible_everywhere(page)


@pytest.mark.parametrize("has_script", [True, False])
def test_a_double_click_adds_one_animal_and_issues_one_key(
    chromium: Browser, key: str, has_script: bool
):
    context = chromium.new_context(
        ignore_https_errors=True, java_script_enabled=has_script
    )
    page = context.new_page()
    sign_in(page, key, "/animals")
    page.get_by_text("Add an animal").click()
    page.get_by_label("Name", exact=True).fill("Rex")
    page.get_by_label("Category", exact=True).first.fill("Dogs")
    page.get_by_role("button", name="Add animal").dblclick()
    expect(page.get_by_text("Rex is added")).to_be_visible()
    page.goto(f"{DASHBOARD}/animals")
    expect(page.get_by_text("1 animal", exact=True)).to_be_visible()
    page.goto(f"{DASHBOARD}/keys")
    keys = page.locator("tbody tr")
    before = keys.count()
    page.get_by_role("button", name="Issue key").dblclick()
    expect(page.get_by_role("link", name="All keys")).to_be_visible()
    page.goto(f"{DASHBOARD}/keys")
    expect(keys).to_have_count(before + 1)
    context.close()


def test_keys_with_limits_and_refusals_leave_room(world: World, page: Page, key: str):
    sign_in(page, key, "/keys")
    page.get_by_role("link", name="For a web page").click()
    page.get_by_label("Requests per minute").fill("300")
    page.get_by_label("Requests per day").fill("10000")
    page.get_by_label("Label").fill("W" * 120)
    page.get_by_role("button", name="Issue key").click()
    with Client(world.instances[0].url, page.locator(".value").inner_text()) as client:
        assert client.send("POST", PETS, {}, Host=BASE).status == 403

    def are_requests_counted() -> bool:
        page.goto(f"{DASHBOARD}/keys")
        return page.get_by_text("and 1 refused").first.is_visible()

    wait_until(are_requests_counted)
    for width in (390, 850, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDTH) <= width


def test_lists_are_searched_and_turned(world: World, page: Page, key: str):
    for number in range(21):
        call(world, key, PETS, name=f"Rex {number}.", categoryId=number % 2)
    sign_in(page, key, "/animals?status=available")
    expect(page.get_by_text("21 animals found")).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("Rex 20.")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("Rex 20.")
    page.get_by_label("Name or number").fill("1 rex")
    page.get_by_role("combobox", name="Category").last.select_option("1")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("6 animals found")).to_be_visible()


@pytest.mark.parametrize(("has_script", "zone"), [(True, "GMT+5:45"), (False, "UTC")])
def test_times_are_the_readers_own(
    chromium: Browser, key: str, has_script: bool, zone: str
):
    context = chromium.new_context(
        ignore_https_errors=True,
        timezone_id="Asia/Kathmandu",
        java_script_enabled=has_script,
    )
    page = context.new_page()
    sign_in(page, key, f"/keys/{key[:16]}")
    expect(page.locator("dd time").first).to_contain_text(zone)
    context.close()


@pytest.mark.parametrize("has_script", [True, False])
def test_key_again_confirms_that_the_last_full_one_is_revoked(
    chromium: Browser, key: str, has_script: bool
):
    context = chromium.new_context(
        ignore_https_errors=True, java_script_enabled=has_script
    )
    page = context.new_page()
    sign_in(page, key, f"/keys/{key[:16]}")
    page.get_by_text("Revoke this key").click()
    revoke = page.get_by_role("button", name="Yes, revoke it")
    field = page.get_by_label("A full key of this project")
    field.fill("pet_x")
    revoke.click()
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(
        "To confirm it. The key begins with pet_. "
        "Enter a full key of this project that works."
    )
    if has_script:
        require_accessible_everywhere(page)
    field.fill(key)
    revoke.click()
    expect(page.get_by_text("Your session is over.")).to_be_visible()
    context.close()


@pytest.mark.parametrize("is_secure", [True, False])
def test_texts_are_copied_over_https_and_plain_http(
    page: Page, key: str, is_secure: bool
):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, key, "/settings/domains")
    if not is_secure:
        page.evaluate(
            "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
        )
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
