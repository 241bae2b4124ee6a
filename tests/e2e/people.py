"""Steps that users take on the dashboard, and checks of its pages."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

BASE = "pets.example.net"
DOMAINS = f"https://{BASE}/dashboard/settings/domains"


def sign_in(page: Page, key: str) -> None:
    """Sign in to the dashboard."""
    page.goto(f"https://{BASE}/dashboard")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def add_domain(page: Page, name: str) -> None:
    """Add a domain and wait for its page."""
    page.goto(DOMAINS)
    page.get_by_role("textbox", name="Domain").fill(name)
    page.get_by_role("button", name="Add domain").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def verify(page: Page, expected: str) -> None:
    """Click Verify and wait for the expected text."""
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(expected)).to_be_visible()


def require_accessible(page: Page) -> None:
    """Check that axe-core finds no violation on the page."""
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()
