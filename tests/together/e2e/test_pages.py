"""The dashboard in a browser: its work, its lists, its menu, and accessibility."""

import pytest
from playwright.sync_api import Page, expect

from tests.harness.clients import ORDERS, PETS, Client
from tests.together.e2e.conftest import World
from tests.together.e2e.people import (
    BASE,
    DASHBOARD,
    add_animal,
    add_domain,
    require_accessible_everywhere,
    sign_in,
    type_category,
)

PATHS = (
    *("", "/animals", "/animals?name=r&status=available&category=1", "/categories"),
    *("/orders", "/requests", "/keys", "/sessions", "/settings/domains", "/activity"),
    *("/animals/import", "/nowhere", "/animals?x=1", "/requests?id=x"),
)


NO_SCRIPT, KATHMANDU = {"java_script_enabled": False}, {"timezone_id": "Asia/Kathmandu"}


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


def test_the_first_form_is_read_in_the_order_of_its_fields(page: Page, key: str):
    sign_in(page, key)
    fields = page.locator("details.adding .field").locator("input, select")
    boxes = [field.bounding_box() for field in fields.all()]
    places = [(box["y"], box["x"]) for box in boxes]
    assert len(places) == 3  # name, category and status
    assert places == sorted(places)


@pytest.mark.parametrize("options", [{}, NO_SCRIPT], indirect=True)
def test_a_double_click_adds_one_animal_and_issues_one_key(page: Page, key: str):
    sign_in(page, key, "/animals")
    page.get_by_text("Add an animal").click()
    page.get_by_label("Name", exact=True).fill("Rex")
    type_category(page, "Dogs")
    page.get_by_role("button", name="Add animal").dblclick()
    expect(page.get_by_text("Added Rex")).to_be_visible()
    page.goto(f"{DASHBOARD}/animals")
    expect(page.get_by_text("1 animal", exact=True)).to_be_visible()
    page.goto(f"{DASHBOARD}/keys")
    keys = page.locator("tbody tr")
    before = keys.count()
    page.get_by_text("Issue a key").click()
    page.get_by_role("button", name="Issue key").dblclick()
    expect(page.get_by_role("link", name="All keys")).to_be_visible()
    page.goto(f"{DASHBOARD}/keys")
    expect(keys).to_have_count(before + 1)


def test_going_back_after_a_corrected_error_shows_a_page(page: Page, key: str):
    sign_in(page, key)
    add_animal(page, "Rex", "9" * 20)
    expect(page.get_by_text("Category must be an integer")).to_be_visible()
    type_category(page, "Dogs")
    page.get_by_role("button", name="Add animal").click()
    expect(page.get_by_text("Added Rex")).to_be_visible()
    for _ in range(2):
        page.go_back()
        expect(page.get_by_role("heading", name="Animals")).to_be_visible()


def test_the_way_back_to_a_list_keeps_its_filters(page: Page, key: str):
    sign_in(page, key)
    add_animal(page, "Luna", "Dogs")
    page.goto(f"{DASHBOARD}/animals?status=available&sort=name")
    page.get_by_role("link", name="Luna", exact=True).click()
    page.get_by_role("link", name="All animals").click()
    expect(page).to_have_url(f"{DASHBOARD}/animals?status=available&sort=name")


def test_keyboard_is_at_the_notice_and_one_key_from_the_row(page: Page, key: str):
    sign_in(page, key)
    add_animal(page, "Luna", "Dogs")
    page.goto(f"{DASHBOARD}/categories")
    page.locator("summary").filter(has_text="Rename").click()
    name = page.get_by_label("Name").last
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(name).to_be_hidden()
    page.goto(f"{DASHBOARD}/animals")
    page.get_by_role("link", name="Luna", exact=True).click()
    page.get_by_role("button", name="Reserve").click()
    expect(page.get_by_role("status")).to_be_focused()
    page.goto(f"{DASHBOARD}/orders")
    page.get_by_role("button", name="Adopted").click()
    expect(page.get_by_role("status")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Luna", exact=True)).to_be_focused()


@pytest.mark.parametrize("options", [{}, NO_SCRIPT], indirect=True)
def test_animals_change_together_by_the_keyboard(
    page: Page, key: str, options: dict[str, bool]
):
    sign_in(page, key)
    for name in ("Luna", "Rex"):
        add_animal(page, name, "Dogs")
    page.goto(f"{DASHBOARD}/animals")
    page.get_by_label("All on this page").press("Space")
    if not options:  # with a script, the box ticks the rows
        expect(page.get_by_label("Rex", exact=True)).to_be_checked()
        require_accessible_everywhere(page)
    page.get_by_label("Change the ticked animals").select_option("Adopted")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Change 2 animals to")).to_be_visible()
    if not options:
        require_accessible_everywhere(page)
    page.get_by_role("button", name="Change 2 animals").press("Enter")
    expect(page.get_by_text("Changed 2 animals to Adopted.")).to_be_visible()
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_text("Changed 2 animals back.")).to_be_visible()


@pytest.mark.parametrize(
    ("options", "zone"),
    [(KATHMANDU, "GMT+5:45"), (KATHMANDU | NO_SCRIPT, "UTC")],
    indirect=["options"],
)
def test_times_are_the_readers_own(page: Page, key: str, zone: str):
    sign_in(page, key, f"/keys/{key[:16]}")
    expect(page.locator("dd time").first).to_contain_text(zone)


def test_key_again_confirms_that_the_last_full_one_is_revoked(page: Page, key: str):
    sign_in(page, key, f"/keys/{key[:16]}")
    page.get_by_text("Revoke this key").click()
    revoke = page.get_by_role("button", name="Revoke the key")
    field = page.get_by_label("A full key of this project")
    field.fill("pet_x")
    revoke.click()
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(
        "To confirm it. The key begins with pet_. "
        "Enter a full key of this project that works."
    )
    require_accessible_everywhere(page)
    field.fill(key)
    revoke.click()
    expect(page.get_by_text("Your session is over.")).to_be_visible()


@pytest.mark.parametrize("is_secure", [True, False])
def test_texts_are_copied_over_https_and_http(page: Page, key: str, is_secure: bool):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, key, "/settings/domains")
    if not is_secure:
        page.evaluate(
            "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
        )
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
