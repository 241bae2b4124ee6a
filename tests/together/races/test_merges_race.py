"""Categories that are joined on several workers at once, or on one that is killed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from threading import Thread

import pytest

from petstore.extensions.dashboard.merges import MOVED_AT_ONCE, Merge
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import category_names
from tests.harness.crowds import at_once
from tests.harness.patience import NOTING
from tests.harness.services import AMPLE, issue_key, serving
from tests.harness.stage import opened
from tests.harness.visitors import Visitor
from tests.harness.waiting import wait_until
from tests.together.races.conftest import Service, of_both_engines

DOGS, CATS = 1, 2
PARTS, MANY_PARTS, ROUNDS = 4, 20, 3
REFUSED = ("is being joined with", "There is no category")
SOON = replace(NOTING, outdated_seconds=0.2)


def fill(key: str, parts: int) -> Project:
    """Add two categories to the project of a key, each with animals for some parts."""
    project = Key.find_by_prefix(key[:16]).project
    for category_id, name in ((DOGS, "Dogs"), (CATS, "Cats")):
        Category.ensure(project.id, category_id, name)
        rex = {"name": "Rex", "category_id": category_id, "status": "available"}
        rex |= {"project": project, "folded": "rex"}
        for _ in range(parts):
            Pet.insert_many([rex] * MOVED_AT_ONCE).execute()
    return project


def count(project: Project, category_id: int) -> int:
    is_one = (Pet.project == project) & (Pet.category_id == category_id)
    return Pet.select().where(is_one).count()


def is_moving(project: Project) -> bool:
    return Merge.select().where(Merge.project == project).exists()


@of_both_engines
def test_of_two_that_are_joined_with_each_other_one_is_refused(
    service: Service, key_of: Callable
):
    urls = cycle(service.urls)
    for _ in range(ROUNDS):
        project = fill(key := key_of(AMPLE), PARTS)
        people = [Visitor(next(urls), key) for _ in range(4)]
        ways = [(DOGS, CATS), (CATS, DOGS)] * 2

        def join(number: int, people: list = people, ways: list = ways) -> str:
            source, target = ways[number]
            path = f"/categories/{source}/merge"
            return people[number].submit(path, into=str(target)).text

        pages = at_once(join, range(4))
        refused = [any(words in page for words in REFUSED) for page in pages]
        wait_until(lambda at=project: not is_moving(at), "the animals go on moving")
        [left] = category_names(project, [DOGS, CATS])
        # Whoever came later than all that has moved finds no category.
        assert all(refused[n] for n, (source, _) in enumerate(ways) if source == left)
        assert not all(refused)
        assert count(project, left) == 2 * PARTS * MOVED_AT_ONCE


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_what_a_killed_worker_has_begun_is_finished(
    new_database: Callable[[str], str], tmp_path: Path, engine: str
):
    environ = {"DATABASE_URL": new_database(engine), "WEB_CONCURRENCY": "2"}
    key = issue_key(environ)
    with (
        opened(environ),
        serving(tmp_path, environ, key=key, limits=SOON) as service,
    ):
        project, person = fill(key, MANY_PARTS), Visitor(service.url, key)
        joining = Thread(target=join_and_fail, args=(person,))
        joining.start()
        begun = MANY_PARTS * MOVED_AT_ONCE
        wait_until(lambda: count(project, CATS) > begun, "no animal moves")
        for worker in service.workers:
            worker.kill()
        joining.join()
        assert is_moving(project)
        assert 0 < count(project, DOGS) < begun

        def is_finished() -> bool:
            service.send()  # after a request, a worker looks what is to be done
            return not is_moving(project)

        wait_until(is_finished, "nobody goes on")
        assert count(project, CATS) == 2 * begun
        assert [*category_names(project, [DOGS, CATS])] == [CATS]


def join_and_fail(person: Visitor) -> None:
    with pytest.raises(OSError, match=r"Connection|Remote"):
        person.submit(f"/categories/{DOGS}/merge", into=str(CATS))
