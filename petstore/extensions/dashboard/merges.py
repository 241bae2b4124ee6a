"""Categories that are joined with others: their animals move in parts."""

import time
from contextlib import suppress

import peewee

from petstore import clock, timeouts
from petstore.concurrency import call_and_log
from petstore.events import actor
from petstore.extensions.dashboard.typed_names import labels_of, require_category
from petstore.models import BEFORE_ALL, RuleError
from petstore.models.categories import Category
from petstore.models.pets import Pet, remove_category
from petstore.models.projects import Project, take_rows
from petstore.storage import BaseModel, close_connections, db, suppress_outage

MOVED_AT_ONCE = 500
MERGES_AT_ONCE = 20


class Merge(BaseModel):
    """The category whose animals move to another one, and that goes with the last.

    The row tells all workers of it. A part moves the animals with the next higher ids,
    so each animal moves once, and whoever goes on begins where the last part has ended.
    """

    # One at a time, so that none moves what another one does.
    project = peewee.ForeignKeyField(Project, primary_key=True, on_delete="CASCADE")
    project_id: int
    source = peewee.BigIntegerField()
    target = peewee.BigIntegerField()
    moved_id = peewee.BigIntegerField()  # animals up to this id have moved
    begun_by = peewee.TextField()  # as in `petstore.events.actor`

    class Meta:
        table_name = "category_merge"

    @classmethod
    def begin(cls, project_id: int, source: int, target: int) -> None:
        """Let the animals of one category move to another, which `carry_out` does.

        Raises `CategoryGone`, and `RuleError` for a category with itself, and while
        others are being joined.
        """
        with db.atomic():
            for category_id in (source, target):  # from here on nobody else begins
                require_category(project_id, category_id)
            if source == target:
                text = "A category cannot be joined with itself. Choose another one."
                raise RuleError(text=text)
            if merge := cls.get_or_none(cls.project == project_id):
                if (merge.source, merge.target) == (source, target):
                    return
                labels = labels_of(project_id, [merge.source, merge.target])
                both = labels[merge.source], labels[merge.target]
                text = "{} is being joined with {} at the moment. Try again later."
                raise RuleError(*both, text=text)
            values = {"moved_id": BEFORE_ALL, "begun_by": actor.get()}
            cls.create(project=project_id, source=source, target=target, **values)

    @classmethod
    def carry_out(cls, project_id: int) -> None:
        """Move the animals of the category that is being joined, and delete it."""
        try:
            while _move_part(project_id):
                time.sleep(timeouts.LIMITS.deletion_pause_seconds)
        finally:
            close_connections()

    def move_after(self, pet_id: int) -> list[int]:
        """Move some animals of the category after one, and return their ids."""
        equal = ((Pet.project, self.project_id), (Pet.category_id, self.source))
        found = Pet.select(Pet.id).where(db.along_index(equal, Pet.id > pet_id))
        found = found.order_by(*db.order_along_index(equal, [Pet.id]))
        ids = [pet.id for pet in found.limit(MOVED_AT_ONCE)]
        by = {"changed_ms": clock.now_ms(), "changed_by": self.begun_by}
        moved = Pet.update(category_id=self.target, **by)
        moved.where(Pet.id.in_(ids)).execute()
        return ids


def finish() -> None:
    """Carry out what a worker that has ended has left."""
    try:
        with suppress_outage():
            for merge in list(Merge.select().limit(MERGES_AT_ONCE)):
                call_and_log(Merge.carry_out, merge.project_id)
    finally:
        close_connections()


def _move_part(project_id: int) -> bool:
    """Move the next animals; return whether there may be more."""
    with db.atomic():
        take_rows(project_id, 0)  # no animal gets or leaves a category meanwhile
        merge = Merge.get_or_none(Merge.project == project_id)
        if merge is None:
            return False
        if Category.find_own(project_id, merge.target):
            ids = merge.move_after(merge.moved_id)
            if len(ids) == MOVED_AT_ONCE:
                merge.moved_id = ids[-1]
                merge.save(only=[Merge.moved_id])
                return True
            merge.move_after(BEFORE_ALL)  # those that got the category meanwhile
        merge.delete_instance()
        with suppress(RuleError):  # programs may have used it, or deleted it
            remove_category(project_id, merge.source)
    return False
