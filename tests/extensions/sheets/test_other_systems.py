"""Files with the heads of other systems go in, by the page and by the command.

The heads are those of real exports; the animals are made up.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, shown_choices
from tests.harness.databases import of_both_engines

MOST_CHOICES = 6
EXPORTS = yaml.safe_load(Path(__file__).with_name("other_systems.yaml").read_text())
PICTURE = "x" * 140_000
NO_OTHERS: dict[str, str] = {}


class Export(NamedTuple):
    heads: str
    lines: str
    stored: list[list[str]]
    columns: dict[str, str] = NO_OTHERS
    statuses: dict[str, str] = NO_OTHERS
    without_name: str = ""

    @property
    def text(self) -> str:
        return f"{self.heads}\n{self.lines}".replace("{picture}", PICTURE)


def stored(project: Project) -> list[list[str]]:
    pets = Pet.page(project.id, after=0, limit=100)
    names = Category.names(project.id, {pet.category_id for pet in pets})
    labels = [names.get(pet.category_id, str(pet.category_id)) for pet in pets]
    return [[x.name, label, x.status] for x, label in zip(pets, labels, strict=True)]


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request: pytest.FixtureRequest) -> Export:
    return Export(**request.param)


@of_both_engines
def test_file_goes_in_by_the_page(
    app: object, key: str, project: Project, export: Export
):
    browser = Browser(app, key)
    question = browser.upload(export.text).location
    choices = dict(export.columns)
    if export.without_name:
        choices["without_name"] = export.without_name
    for value, meant in export.statuses.items():
        choices[f"status.{value.lower()}"] = meant
    assert len(choices) <= MOST_CHOICES
    page = browser.get(question)
    for _ in range(3):  # a column that is chosen may ask for more
        page = browser.submit(question, **(shown_choices(page.text) | choices))
    assert stored(project) == export.stored


@of_both_engines
def test_file_goes_in_by_the_command(
    flask: Callable, project: Project, export: Export, tmp_path: Path
):
    (tmp_path / "x.csv").write_text(export.text)
    heads = {"status": "Outcome Type", "id": "ID"}  # that are left out
    options = [f"--without-name={export.without_name}"]
    options += [f"--status={value}={x}" for value, x in export.statuses.items()]
    for ours, head in export.columns.items():
        options.append(f"--column={head or heads[ours]}={ours if head else ''}")
    file = str(tmp_path / "x.csv")
    done = flask("animals", "import", file, "--project=shelter", *options)
    assert (done.exit_code, done.stdout) == (0, f"{len(export.stored)}\n")
    assert stored(project) == export.stored
