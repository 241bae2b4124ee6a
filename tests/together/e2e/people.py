"""Steps that users take on the dashboard, and checks of its pages."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.harness.front import BASE

DASHBOARD = f"https://{BASE}/dashboard"
OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"
WIDTH = "document.documentElement.scrollWidth"


def sign_in(page: Page, key: str, path: str = "") -> None:
    """Open a page of the dashboard, by way of the sign-in page."""
    page.goto(f"{DASHBOARD}{path}")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{DASHBOARD}{path}")


def add_animal(page: Page, name: str, category: str) -> None:
    """Fill in and send the form that adds an animal."""
    page.goto(f"{DASHBOARD}/animals")
    page.get_by_text("Add an animal").click()
    page.get_by_label("Name", exact=True).fill(name)
    type_category(page, category)
    page.get_by_role("button", name="Add animal").click()


def type_category(page: Page, name: str) -> None:
    """Type a category in the first form, which offers others if there are any."""
    page.get_by_role("textbox", name=re.compile("category", re.IGNORECASE)).first.fill(
        name
    )


def add_domain(page: Page, name: str) -> None:
    """Add a domain and wait for its page."""
    page.goto(f"{DASHBOARD}/settings/domains")
    page.get_by_text("Add a domain").click()
    page.get_by_role("textbox", name="Domain").fill(name)
    page.get_by_role("button", name="Add domain").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def verify(page: Page, expected: str) -> None:
    """Click Verify and wait for the expected text."""
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(expected)).to_be_visible()


def require_accessible(page: Page) -> None:
    """Check that axe-core finds no violation on the page as it is shown."""
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()


def require_accessible_everywhere(page: Page) -> None:
    """Check a page with everything opened: light on a phone, and dark on a screen."""
    page.evaluate(OPEN_ALL)
    for width in (320, 390, 650, 850, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDTH) <= width
    for width, scheme in ((390, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        require_accessible(page)
