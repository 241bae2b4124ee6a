"""Actions that a project may take only so many times in an hour or a day."""

from peewee import BigIntegerField, CompositeKey, ForeignKeyField, TextField

from petstore import clock
from petstore.models.projects import Project
from petstore.storage import BaseModel


class LimitedAction(BaseModel):
    """An action of a project, kept as long as it counts against a limit."""

    project = ForeignKeyField(Project, index=False)
    action = TextField()
    subject = TextField()  # what it was done to; counts once
    done_ms = BigIntegerField()

    class Meta:
        primary_key = CompositeKey("project", "action", "subject")

    @classmethod
    def record(
        cls, project_id: int, action: str, subject: str, *, since_ms: int, most: int
    ) -> bool:
        """Record an action, but return False after `most` of them since then.

        The caller holds `db.lock_until_commit(project_id)`, so that of any number of
        sessions at once no more than `most` succeed.
        """
        of_project = (cls.project == project_id) & (cls.action == action)
        cls.delete().where(of_project, cls.done_ms < since_ms).execute()
        counted = [row.subject for row in cls.select(cls.subject).where(of_project)]
        if subject in counted:
            return True
        if len(counted) >= most:
            return False
        cls.create(
            project=project_id, action=action, subject=subject, done_ms=clock.now_ms()
        )
        return True
