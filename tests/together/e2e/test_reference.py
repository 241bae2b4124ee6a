"""The API reference in a browser: calls, the key, and accessibility."""

import json

from playwright.sync_api import Locator, Page, expect

from tests.harness.clients import PETS, Client
from tests.together.e2e.conftest import World
from tests.together.e2e.people import BASE, require_accessible_everywhere

DOCS = f"https://{BASE}/docs"


def open_call(page: Page, operation: str) -> Locator:
    """Open the form that calls an operation, and return its section."""
    section = page.get_by_role("article", name=operation)
    section.get_by_text("Try it").click()
    return section


def send(section: Locator, expected: str) -> None:
    section.get_by_role("button", name="Send").click()
    expect(section.locator("output")).to_contain_text(expected)


def test_reference_has_no_axe_violation(page: Page):
    page.goto(DOCS)
    require_accessible_everywhere(page)


def test_double_click_adds_one_animal_per_body(world: World, page: Page, key: str):
    sent = []
    page.on("request", lambda request: sent.append(request.headers))
    page.goto(DOCS)
    page.get_by_label("API key").fill(key)
    section = open_call(page, "Add an animal")
    body = section.get_by_label("Body")
    section.get_by_role("button", name="Send").dblclick()
    expect(section.locator("output")).to_contain_text("201")
    send(section, "201, the first response again")
    body.fill(body.input_value().replace("Rex", "Luna"))
    send(section, "Luna")
    section.get_by_role("button", name="New key").click()
    send(section, "201\n")
    assert names_of_animals(world, key) == ["Rex", "Luna", "Luna"]
    keys = [each["idempotency-key"] for each in sent if "idempotency-key" in each]
    assert len(set(keys)) == 3


def names_of_animals(world: World, key: str) -> list[str]:
    with Client(world.instances[0].url, key) as client:
        return [pet["name"] for pet in client.send("GET", PETS, Host=BASE).json]


def test_nothing_is_changed_by_a_click_alone(page: Page, key: str):
    page.goto(DOCS)
    page.get_by_label("API key").fill(key)
    sent = []
    page.on("request", lambda request: sent.append(request))
    for form in page.locator(
        "form.try:not([data-method=GET], [data-path='/pets'])"
    ).all():
        form.evaluate("form => form.closest('details').open = true")
        form.get_by_role("button", name="Send").click()
        for example in form.get_by_role("button", name="Use the example").all():
            example.click()
            assert json.loads(form.get_by_label("Body").input_value())
    assert sent == []


def test_key_survives_a_reload_of_the_tab(page: Page, key: str):
    page.goto(f"{DOCS}#limits")
    expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()
    send(open_call(page, "List animals"), "missing_api_key")
    page.get_by_label("API key").fill(key)
    page.reload()
    send(open_call(page, "List animals"), "200")
