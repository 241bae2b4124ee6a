"""Imports: accepted in one transaction, then added in parts, whoever does that."""

from collections.abc import Callable

import pytest

from petstore.models import imports
from petstore.models.categories import Category, CategoryTable
from petstore.models.imports import AlreadyImported, ImportedPart, ImportedPet, part_of
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.row_limits import row_limits
from petstore.storage.database import db
from petstore.storage.lists import MAX_ID

PARTS = 4
DIGEST = b"digest"


def pet(name: str, category: str = "Dogs") -> ImportedPet:
    return ImportedPet(name, None, category, "available")


def parts() -> list[str]:
    return [part_of([pet(f"{part}-{n}") for n in range(2)]) for part in range(PARTS)]


def names(project: Project) -> list[str]:
    rows = Pet.page(project.id, after=0, limit=100, status=None)
    return [each.name for each in rows]


ALL = [f"{part}-{n}" for part in range(PARTS) for n in range(2)]


@pytest.fixture
def left(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with an accepted file, of which a process has added one part."""
    with monkeypatch.context() as patch:
        patch.setattr(imports, "finish", lambda id: imports._add_part(id, {}))
        imports.accept(project, DIGEST, parts(), len(ALL))
    assert names(project) == ALL[:2]
    return project


def test_another_process_adds_the_rest(left: Project):
    assert imports.finish_any()
    assert names(left) == ALL
    assert not imports.finish_any()
    assert not ImportedPart.select().exists()


def test_same_file_again_adds_the_rest_and_nothing_twice(left: Project):
    with pytest.raises(AlreadyImported):
        imports.require_new(left.id, DIGEST)
    assert names(left) == ALL


def test_who_is_told_at_the_last_moment_adds_the_rest_too(left: Project):
    with pytest.raises(AlreadyImported):
        imports.accept(left, DIGEST, parts(), len(ALL))
    assert names(left) == ALL


def test_failure_to_accept_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(imports, "emit_after_commit", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        imports.accept(project, DIGEST, parts(), len(ALL))
    assert not imports.finish_any()
    imports.require_new(project.id, DIGEST)
    assert names(project) == []


def test_others_write_between_two_parts(project: Project, set_limits: Callable):
    set_limits(import_pause_seconds=0.0)
    pauses = []

    def write() -> None:
        pauses.append(Pet.add(project.id, name="x", category_id=1, status="sold").id)

    add_part = imports._add_part
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports, "_add_part", lambda *_: add_part(*_) and not write())
        imports.accept(project, DIGEST, parts(), len(ALL))
    assert len(pauses) == PARTS
    assert [name for name in names(project) if name != "x"] == ALL


def test_rows_are_counted_after_an_import(project: Project):
    row_limits.require_room(project.id)
    row_limits.count()
    imports.accept(project, DIGEST, parts(), len(ALL))
    row_limits.count()
    assert Project.get_by_id(project.id).rows_used == len(ALL) + 1


def test_new_category_gets_the_next_number(project: Project, rival: Project):
    Category.ensure(rival.id, 99, "Dogs")
    assert [Category.named(project.id, name) for name in ("A", "B", "A")] == [1, 2, 1]
    Category.ensure(project.id, 7)
    assert Category.named(project.id, "C") == 8


def test_category_gets_a_free_number_where_none_is_next(project: Project):
    Category.ensure(project.id, MAX_ID)
    assert 0 <= Category.named(project.id, "Dogs") < MAX_ID


def test_category_is_found_among_others_by_its_name(project: Project, rival: Project):
    for shop, number in ((project, 9), (project, 3), (rival, 5)):
        Category.ensure(shop.id, number, "Dogs")
    Category.ensure(project.id, 1, "Dog")
    assert Category.ids_named(project.id, "Dogs") == [3, 9]
    assert Category.named(project.id, "Dogs") == 3


def test_number_that_somebody_takes_meanwhile_is_not_given(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    ensure = Category.ensure

    def ensure_late(project_id: int, number: int, name: str) -> bool:
        monkeypatch.setattr(Category, "ensure", ensure)
        ensure(project_id, number, "Cats")
        return ensure(project_id, number, name)

    monkeypatch.setattr(Category, "ensure", ensure_late)
    assert Category.named(project.id, "Dogs") == 2
    assert CategoryTable.select().count() == 2
    assert not db.in_transaction()
