"""Files with the heads of other systems go in, by the page and by the command.

The heads are those of real exports; the animals are made up.
"""

from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from petstore.extensions.sheets.choices import folded_status
from petstore.extensions.sheets.imports import Sheet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, category_names, shown_choices, words
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
    others: dict[str, str] = NO_OTHERS
    codec: str = "utf-8"

    @property
    def content(self) -> bytes:
        text = f"{self.heads}\n{self.lines}".replace("{picture}", PICTURE)
        return text.encode(self.codec)

    @property
    def choices(self) -> dict[str, str]:
        """What people choose on the page, by its fields."""
        name = {"without_name": self.without_name} if self.without_name else {}
        statuses = {
            f"status.{folded_status(x)}": meant for x, meant in self.statuses.items()
        }
        return self.columns | self.others | statuses | name

    @property
    def options(self) -> list[str]:
        """What people choose by the command."""
        others = self.others | {"without_name": self.without_name}
        options = [f"--{name.replace('_', '-')}={x}" for name, x in others.items() if x]
        options += [
            f"--status={value}={meant}" for value, meant in self.statuses.items()
        ]
        for ours, head in self.columns.items():
            if head:
                options.append(f"--column={head}={ours}")
            elif ours == "id":
                options.append("--column=ID=")
            elif "Outcome Type" in self.heads:
                options.append("--column=Outcome Type=")
            else:
                options.append("--all=status=available")
        if self.codec == "cp1252":  # which is guessed on the page
            options.append("--encoding=Windows-1252")
        return [each.replace("--all.category=", "--all=category=") for each in options]


def stored(project: Project) -> list[list[str]]:
    pets = Pet.page(project.id, after=0, limit=100)
    names = category_names(project, {pet.category_id for pet in pets})
    labels = [names[pet.category_id] or str(pet.category_id) for pet in pets]
    return [[x.name, label, x.status] for x, label in zip(pets, labels, strict=True)]


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request: pytest.FixtureRequest) -> Export:
    return Export(**request.param)


@of_both_engines
def test_file_goes_in_by_the_page_with_two_looks_at_most(
    browser: Browser, project: Project, export: Export
):
    question = browser.upload(export.content).location
    assert len(export.choices) <= MOST_CHOICES
    page = browser.get(question)
    if export.choices:
        choices = shown_choices(page.text) | export.choices
        page = browser.choose(question, again="yes", **choices)
    for name, _, _ in export.stored:
        assert f"{name} new" in words(page)
    browser.submit(question, **shown_choices(page.text))
    assert stored(project) == export.stored


@of_both_engines
def test_file_goes_in_by_the_command(
    flask: Callable, project: Project, export: Export, tmp_path: Path
):
    (tmp_path / "x.csv").write_bytes(export.content)
    file = str(tmp_path / "x.csv")
    done = flask("animals", "import", file, "--project=shelter", *export.options)
    assert (done.exit_code, done.stdout) == (0, f"{len(export.stored)}\n")
    assert stored(project) == export.stored


def test_each_guess_stands_on_the_page(browser: Browser, export: Export):
    page = browser.get(browser.upload(export.content).location)
    shown, choices = shown_choices(page.text), Sheet(export.content).choices
    if shown["id"] == "?":  # it is asked about first
        choices.pop("id", None)
    assert {name: shown[name] for name in choices} == choices
    for head in Sheet(export.content).not_stored:
        assert head in unescape(page.text)


@pytest.mark.parametrize("name", ["Sonoma", "only cats", "a list without heads"])
def test_nothing_becomes_available_unseen(project: Project, name: str):
    sheet = Sheet(Export(**EXPORTS[name]).content)
    asked = {question.field for question in sheet.questions}
    assert asked & {"status", "status.", "heads"}
