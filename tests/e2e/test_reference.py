"""The API reference in a browser: calls, the key, and accessibility."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.people import BASE, lines_of, require_accessible_everywhere

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


def test_words_of_the_tables_stay_whole_on_a_phone(page: Page):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(DOCS)
    for word in ("400", "invalid_request", "Enterprise"):
        assert lines_of(page.get_by_text(word, exact=True).first) == 1
    assert lines_of(page.get_by_role("cell", name="There is no animal")) <= 2


def test_response_begins_with_its_status_and_body(page: Page, key: str):
    page.goto(DOCS)
    page.get_by_label("API key").fill(key)
    section = open_call(page, "List animals")
    send(section, "200")
    assert section.locator("output").inner_text().startswith("200\n\n[]\n\n")


def test_second_try_adds_a_second_animal(page: Page, key: str):
    page.goto(DOCS)
    page.get_by_label("API key").fill(key)
    section = open_call(page, "Add an animal")
    send(section, "201")
    first = section.locator("output").inner_text()
    send(section, "201")
    expect(section.locator("output")).not_to_have_text(first)


def test_key_survives_a_reload_of_the_tab(page: Page, key: str):
    page.goto(f"{DOCS}#limits")
    expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()
    send(open_call(page, "List animals"), "missing_api_key")
    page.get_by_label("API key").fill(key)
    page.reload()
    send(open_call(page, "List animals"), "200")
