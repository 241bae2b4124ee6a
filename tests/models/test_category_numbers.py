"""Categories get the next number when they are named for the first time."""

import pytest

from petstore.models import categories
from petstore.models.categories import Category, CategoryTable
from petstore.models.projects import Project
from petstore.storage.database import db
from petstore.storage.lists import MAX_ID


def add(project: Project, number: int, name: str | None = None) -> None:
    Category.rename(project.id, number, name)


def test_new_category_gets_the_next_number(project: Project, rival: Project):
    add(rival, 99, "Dogs")
    assert [Category.named(project.id, name) for name in ("A", "B", "A")] == [1, 2, 1]
    add(project, 7)
    assert Category.named(project.id, "C") == 8


def test_category_gets_a_free_number_where_none_is_next(project: Project):
    add(project, MAX_ID)
    assert 0 <= Category.named(project.id, "Dogs") < MAX_ID


def test_category_is_found_among_others_by_its_name(project: Project, rival: Project):
    for shop, number in ((project, 9), (project, 3), (rival, 5)):
        add(shop, number, "Dogs")
    add(project, 1, "Dog")
    assert Category.ids_named(project.id, "Dogs") == [3, 9]
    assert Category.named(project.id, "Dogs") == 3


def test_categories_that_somebody_adds_meanwhile_count_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    take_rows = categories.take_rows

    def take_late(project_id: int, rows: int = 1) -> None:
        monkeypatch.setattr(categories, "take_rows", take_rows)
        assert Category.named(project_id, "Dogs") == 1
        take_rows(project_id, rows)

    monkeypatch.setattr(categories, "take_rows", take_late)
    assert Category.named(project.id, "Dogs") == 1
    monkeypatch.setattr(categories, "take_rows", take_late)
    with db.atomic():
        assert not Category.ensure(project.id, 1)
    assert CategoryTable.select().count() == 1
    assert Project.get_by_id(project.id).rows_held == 1
