"""Accessibility of every dashboard page: wide and narrow, light and dark."""

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import World
from tests.e2e.people import BASE, add_domain, require_accessible, sign_in

PATHS = ("", "/animals", "/orders", "/keys", "/settings/domains")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_has_an_axe_violation(
    world: World, page: Page, scheme: str, width: int
):
    slug = world.flask("projects", "create", f"Pages {width} {scheme}", "--plan", "pro")
    key = world.flask("keys", "create", "--project", slug)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"https://{BASE}/dashboard")
    require_accessible(page)
    sign_in(page, key)
    for name in ("shop.example.org", "bücher.example"):
        add_domain(page, name)
        require_accessible(page)
    for path in PATHS:
        page.goto(f"https://{BASE}/dashboard{path}")
        require_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
