"""Categories get the next number when they are named for the first time."""

import pytest

from petstore.extensions.dashboard import typed_names
from petstore.extensions.dashboard.typed_names import (
    CategoryNameTaken,
    CategoryUnclear,
    ids_named,
    labels_of,
    new_category,
    require_free,
    typed_category,
)
from petstore.models.categories import Category
from petstore.models.projects import Project
from petstore.schemas.fields import INT64_MAX
from petstore.storage import db
from tests.harness.browser import category_names
from tests.harness.databases import each_engine

database_url = each_engine


def add(project: Project, number: int, name: str | None = None) -> None:
    Category.rename(project.id, number, name)


def test_new_category_gets_the_next_number(project: Project, rival: Project):
    add(rival, 99, "Dogs")
    meant = [typed_category(project.id, name) for name in ("A", "B", "A")]
    assert meant == [(1, True), (2, True), (1, False)]
    add(project, 7)
    assert typed_category(project.id, "C") == (8, True)


def test_new_number_is_one_that_javascript_holds(project: Project):
    for number in (2**53 - 2, INT64_MAX):
        add(project, number)
    assert typed_category(project.id, "Dogs")[0] == 2**53 - 1
    assert 0 <= typed_category(project.id, "Cats")[0] < 2**53


def test_category_is_found_by_its_name_whatever_its_case_and_blanks(
    project: Project, rival: Project
):
    for shop, number, name in (
        (project, 9, "Dogs"),
        (project, 3, " ÖMERS"),
        (rival, 5, "dogs"),
    ):
        add(shop, number, name)
    add(project, 4, "Guinea\xa0 pigs")
    for name, number in (
        *(("DOGS ", 9), ("ömers", 3), ("O\u0308mers", 3), (9, 9)),
        *(("guinea pigs", 4), ("Guinea  pigs\xa0", 4)),
    ):
        assert typed_category(project.id, name) == (number, False)
    add(project, 7, "dogs")
    assert ids_named(project.id, "dogS") == [7, 9]
    with pytest.raises(
        CategoryUnclear, match=r"choose dogs \(no. 7\) or Dogs \(no. 9\)"
    ):
        typed_category(project.id, "Dogs")


def test_category_has_a_name_of_its_own_where_that_is_asked_for(project: Project):
    add(project, 9, "Dogs")
    for number in (7, 8):
        with pytest.raises(CategoryNameTaken, match=r"category Dogs \(no. 9\) has"):
            require_free(project.id, " dogs", number)
    with pytest.raises(CategoryNameTaken):
        new_category(project.id, "DOGS")
    require_free(project.id, "dogs", 9)


def test_categories_that_somebody_adds_meanwhile_count_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    take_rows = typed_names.take_rows

    def take_late(project_id: int, rows: int = 1) -> None:
        monkeypatch.setattr(typed_names, "take_rows", take_rows)
        assert typed_category(project_id, "Dogs")[0] == 1
        take_rows(project_id, rows)

    monkeypatch.setattr(typed_names, "take_rows", take_late)
    assert typed_category(project.id, "Dogs")[0] == 1
    with db.atomic():
        assert not Category.ensure(project.id, 1)
    assert Category.select().count() == 1
    assert Project.get_by_id(project.id).rows_held == 1


def test_categories_of_another_project_have_no_say(project: Project, rival: Project):
    for number, name in ((5, "Dogs"), (7, "Cats"), (8, "Cats")):
        Category.ensure(rival.id, number, name)
    Category.ensure(project.id, 7, "Dogs")
    assert ids_named(project.id, "dogs") == [7]
    assert category_names(project, [5, 7]) == {7: "Dogs"}
    assert labels_of(project.id, [5, 7]) == {5: "Category 5", 7: "Dogs"}
