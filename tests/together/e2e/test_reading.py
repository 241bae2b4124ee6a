"""Finding one's way in the API reference, and taking its samples along."""

import pytest
from playwright.sync_api import Page, expect

from tests.together.e2e.people import BASE, require_accessible

DOCS = f"https://{BASE}/docs"
CLIPBOARD = "navigator.clipboard.readText()"


def contents(page: Page) -> list[str]:
    """Return the links that the contents show, without what is found there."""
    links = page.get_by_role("navigation").get_by_role("link")
    return [link.inner_text().partition("\n")[0] for link in links.all()]


def sample(page: Page, operation: str) -> str:
    """Return the sample of an operation that is shown."""
    samples = page.get_by_role("article", name=operation).locator(".sample[open] code")
    expect(samples).to_have_count(1)
    return samples.text_content()


def test_search_finds_operations_parameters_and_codes(page: Page):
    page.goto(DOCS)
    search = page.get_by_role("searchbox")
    everything = contents(page)
    for words, found in {
        "order_closed": ["Errors", "Close or correct an order"],
        "post orders": ["Place an order"],
        "createpet": ["Add an animal"],
        "patch idempotency": ["Close or correct an order"],
        "sunset": ["Deprecation", "Get an animal"],
    }.items():
        search.fill(words)
        assert set(found) <= set(contents(page))
        assert len(contents(page)) < 5
    search.fill("nothing of the kind")
    expect(page.get_by_text("0 of ")).to_be_visible()
    search.fill("")
    assert contents(page) == everything


def test_keyboard_alone_leads_from_the_search_to_what_is_found(page: Page):
    page.goto(DOCS)
    page.get_by_label("API key").focus()
    page.keyboard.press("Tab")
    page.keyboard.type("pet_not_available")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="pet_not_available")).to_be_in_viewport()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    section = page.get_by_role("article", name=contents(page)[1])
    expect(section.get_by_text("pet_not_available")).to_be_in_viewport()
    require_accessible(page)


def test_samples_are_copied_with_the_key_and_address_of_the_tab(page: Page, key: str):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(DOCS)
    section = page.get_by_role("article", name="Add an animal")
    section.get_by_text("Python", exact=True).click()
    generic = sample(page, "Add an animal")
    section.locator(".sample[open]").get_by_role("button", name="Copy").click()
    expect(section.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate(CLIPBOARD) == generic
    page.get_by_label("API key").fill(key)
    own = generic.replace('os.environ["API"]', f'"https://{BASE}/v1"')
    own = own.replace('os.environ["KEY"]', f'"{key}"')
    assert sample(page, "Add an animal") == own
    section.locator(".sample[open]").get_by_role("button", name="Cop").click()
    assert page.evaluate(CLIPBOARD) == own
    page.get_by_label("API key").fill("")
    assert sample(page, "Add an animal") == generic


def test_samples_contain_nothing_but_keys(page: Page):
    page.goto(DOCS)
    generic = sample(page, "Add an animal")
    for text in ("pet_$(id)", 'pet_";id;"', "<img src=x>"):
        page.get_by_label("API key").fill(text)
        assert sample(page, "Add an animal") == generic
    assert page.locator("main img").count() == 0


def test_key_stays_in_the_tab(page: Page, key: str):
    page.goto(DOCS, wait_until="networkidle")  # with its icon
    sent = []
    page.on("request", lambda request: sent.append(request))
    page.get_by_label("API key").fill(key)
    page.get_by_role("searchbox").fill("limit")
    assert page.evaluate("JSON.stringify(localStorage)") == "{}"
    shown = page.locator(".secret").first.evaluate(
        "element => getComputedStyle(element).webkitTextSecurity"
    )
    assert shown == "disc"
    assert key not in page.context.new_page().content()
    assert sent == []


@pytest.mark.parametrize("options", [{"java_script_enabled": False}], indirect=True)
def test_everything_is_read_without_javascript(page: Page):
    page.goto(DOCS)
    for section in page.get_by_role("article").all():
        expect(section.locator("pre").first).to_be_visible()
        expect(section.get_by_role("table").first).to_be_visible()
    expect(page.locator("form, .trying").filter(visible=True)).to_have_count(0)
    expect(page.get_by_text("You need JavaScript to try calls here.")).to_be_visible()
