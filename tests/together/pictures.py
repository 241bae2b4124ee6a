"""Take the pictures of docs/images, as `make pictures` does."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.harness import servers
from tests.harness.clients import ORDERS
from tests.harness.servers import ROOT
from tests.harness.services import serving

# Of another system: one animal has no name, and one category is like another.
FILE = b"""Animal ID,Animal Name,Species,Breed,Outcome Type
A1701,Luna,Dog,Beagle,Return to Owner
A1702,,Cats,Domestic Shorthair,
A1703,Tom,Cats,Siamese mix,Adoption
"""
CHOICES = {"Lines without a name": "skip"}
CHOICES |= {
    f"Status “{each}” means": "sold" for each in ("Return to Owner", "Adoption")
}
PAGES = {"home": "/dashboard", "dashboard": "/dashboard/animals", "docs": "/docs"}


def take_pictures(directory: Path) -> None:
    environ = {"DATABASE_URL": f"sqlite:///{directory / 'demo.db'}"}
    servers.flask(environ, "migrate")
    key = servers.flask(environ, "demo").stdout.strip()
    with (
        serving(directory, environ, key=key) as service,
        service.client() as client,
        sync_playwright() as playwright,
    ):
        for pet_id, reference in ((2, "Ms Hopper, 555-0177"), (6, "Mr Turing")):
            client.post({"petId": pet_id, "reference": reference}, ORDERS)
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(f"{service.url}/dashboard")
        page.get_by_label("API key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        for name, path in PAGES.items():
            page.goto(f"{service.url}{path}", wait_until="networkidle")
            page.screenshot(path=ROOT / f"docs/images/{name}.png")
        page.goto(f"{service.url}/dashboard/animals/import")
        file = {"name": "old.csv", "mimeType": "text/csv", "buffer": FILE}
        page.get_by_label("CSV file").set_input_files(file)
        page.get_by_role("button", name="Check the file").click()
        for label, chosen in CHOICES.items():
            page.get_by_label(label).select_option(chosen)
        page.get_by_role("button", name="Show the result").click()
        page.get_by_role("button", name="Import the file").wait_for()
        page.screenshot(path=ROOT / "docs/images/import.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        take_pictures(Path(made))
