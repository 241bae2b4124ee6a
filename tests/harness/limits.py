"""Fill a project up to the real limits of its keys and domains."""

from petstore import clock
from petstore.extensions.dashboard.limits import NEW_KEYS
from petstore.extensions.hosting.models import MAX_DOMAINS, Domain
from petstore.models.keys import MAX_ENDED_KEYS, MAX_WORKING_KEYS, Key
from petstore.models.projects import Project
from petstore.quotas.limiter import Limiter


def fill_up_keys(project: Project, *, leave: int) -> None:
    """Insert keys that work, until the project may have so many more."""
    held = Key.working(project.id, clock.now_ms()).count()
    _insert_keys(project, "full", MAX_WORKING_KEYS - held - leave)


def fill_up_ended_keys(project: Project, *, leave: int) -> None:
    """Insert keys that end now, until so many more are kept."""
    count, now = MAX_ENDED_KEYS - leave, clock.now_ms()
    _insert_keys(project, "ended", count, revoked_ms=now)


def fill_up_hour(limiter: Limiter, project: Project, *, leave: int) -> None:
    """Count new keys, until the project may issue so many more in the hour."""
    subject, count = f"new-keys:{project.id}", NEW_KEYS.amount - leave
    limiter.strategy.hit(NEW_KEYS, subject, cost=count)


def fill_up_domains(project: Project, *, leave: int) -> None:
    """Insert domains that are not verified, until the project may add so many more."""
    domain = {"project": project, "created_ms": clock.now_ms()}
    Domain.insert_many(
        domain | {"name": f"full{number}.example.org"}
        for number in range(MAX_DOMAINS - leave)
    ).execute()


def _insert_keys(project: Project, name: str, count: int, **columns: int) -> None:
    key = {"project": project, "digest": b"", "created_ms": clock.now_ms()} | columns
    Key.insert_many(
        key | {"prefix": f"{name}-{project.id}-{number}"} for number in range(count)
    ).execute()
