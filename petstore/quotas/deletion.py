"""Deletes a project together with its counters."""

from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.quotas.stores.database import Strike, Usage
from petstore.quotas.subjects import project_subject
from petstore.storage import counters, data


def delete_project(project: Project) -> None:
    """Delete everything of a project at once; counters in Redis expire by themselves.

    SQLite has a file of its own for counters, with a transaction of its own.
    """
    with data.atomic(), counters.atomic():
        keys = [key.id for key in Key.select(Key.id).where(Key.project == project)]
        Strike.delete().where(Strike.key_id.in_(keys)).execute()
        subject = project_subject(project.id).name
        Usage.delete().where(Usage.subject == subject).execute()
        project.remove()
