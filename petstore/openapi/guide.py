"""What the reference teaches: the sections of `guide.md`, for description and page."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from petstore.errors import ERRORS
from petstore.models.plans import PLANS

INTRODUCTION = """\
Manage animals for adoption, their categories and the orders for them. Every operation
takes an API key as a bearer token; the plan of its project limits the requests per
minute and day.
"""
# Where all plans and errors stand in the guide.
PLANS_TABLE, ERRORS_LIST = "PLANS\n", "ERRORS\n"


class Section(NamedTuple):
    """A section of the guide, in Markdown."""

    title: str
    text: str

    @property
    def anchor(self) -> str:
        """The fragment of the page that leads to the section."""
        return self.title.lower().replace(" ", "-")


def sections() -> list[Section]:
    """Return the sections of the guide in their order."""
    guide = Path(__file__).with_name("guide.md").read_text()
    guide = guide.replace(PLANS_TABLE, _table_of_plans())
    guide = guide.replace(ERRORS_LIST, _list_of_errors())
    parts = ("\n" + guide).split("\n## ")[1:]
    return [Section(*part.split("\n\n", 1)) for part in parts]


def link(title: str) -> str:
    """Return a link, in Markdown, to a section; it works on the page and elsewhere."""
    [section] = [section for section in sections() if section.title == title]
    return f"[{title.lower()}](/docs#{section.anchor})"


def _table_of_plans() -> str:
    rows = []
    for plan, terms in PLANS.items():
        limits = terms.quota or ()
        figures = [f"{limit.amount:,}" for limit in limits] or ["its own"] * 2
        rows.append((plan.capitalize(), *figures))
    return _table(("Plan", "Requests per minute", "Requests per day"), rows)


def _list_of_errors() -> str:
    return "\n".join(
        f"### {code}\n\nStatus {error.status}. {error.when}\n\n"
        f"> {error.example_message}\n"
        for code, error in ERRORS.items()
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
