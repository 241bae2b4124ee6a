"""Sessions of the dashboard, and the file that is to be imported in one."""

from typing import NamedTuple, Self

import peewee
from peewee import Case, Query, fn

from petstore import clock, randomness, timeouts
from petstore.errors import MAX_BODY_BYTES
from petstore.models import NotFound, Retention, RuleError, WriteQueue, retentions
from petstore.models.activity import SHOWN_FACTS, emit_after_commit
from petstore.models.callers import Caller, callers
from petstore.models.credentials import digest_of
from petstore.models.keys import Key, mark_used
from petstore.models.projects import Project
from petstore.storage import BaseModel, Row, compiled, db, placeholder

SESSIONS = "sessions"  # what these events are about
SHOWN_FACTS |= {
    "signed_in": ("key",),
    "session_ended": ("key", "session_key"),
    "other_sessions_ended": (),
}
IDLE_MS = 60 * clock.MS_PER_MINUTE  # without a request
LASTS_MS = 12 * IDLE_MS  # in any case
# The use of a session is written at most once in this time, so that it may end as much
# too early.
STEP_MS = clock.MS_PER_MINUTE
TOKEN_BYTES = 24
NAME_LENGTH = 16
MOST_LISTED = 100
FILE_KEPT_MS = 60 * clock.MS_PER_MINUTE
MOST_LARGE_FILES = 3  # files above 64 KiB of one project that wait at the same time


class NoSuchUpload(RuleError):
    text = "The file does not wait any more. Choose it again."


class Session(BaseModel):
    """The session of a person who has signed in; of its token, the digest is stored."""

    digest = peewee.TextField(primary_key=True)
    key = peewee.ForeignKeyField(Key, on_delete="CASCADE")
    ends_ms = peewee.BigIntegerField(index=True)  # if it is not used until then
    began_ms = peewee.BigIntegerField(null=True)
    seen_ms = peewee.BigIntegerField(null=True)

    @classmethod
    def begin(cls, caller: Caller) -> str:
        token = randomness.token(TOKEN_BYTES)
        digest = digest_of(token).hex()
        [(began_ms,)] = _insert(digest=digest, key=caller.key_id)
        seen.add(Sight(caller.key_id, digest, began_ms))
        return token

    @classmethod
    def end(cls, token: str) -> None:
        """Sign out, which ends the session for every copy of its cookie."""
        if found := cls.find_caller(token):
            _end(found[0], digest_of(token).hex())

    @classmethod
    def find_caller(cls, token: str) -> tuple[Caller, Project] | None:
        """Return who has signed in, if the session has not ended and its key works.

        Nobody has signed in to a project that is suspended.

        From then on it lasts for an hour, but twelve in all.
        """
        digest = digest_of(token).hex()
        names, size = Project._meta.sorted_field_names, len(Caller._fields)
        for *columns, seen_ms, now_ms in _select_caller(digest=digest):
            caller = Caller._make(columns[:size])
            if now_ms - (seen_ms or 0) >= STEP_MS:
                seen.add(Sight(caller.key_id, digest, now_ms))
            return caller, Project(**dict(zip(names, columns[size:], strict=True)))
        return None

    @staticmethod
    def name_of(token: str) -> str:
        """Return the name of a session, for pages and the log; it is not secret."""
        return digest_of(token).hex()[:NAME_LENGTH]

    @staticmethod
    def open_by_name(project_id: int) -> dict[str, Row]:
        """Return open sessions of the project, at most MOST_LISTED, last seen first."""
        rows = _select_open(project=project_id)
        return {row.digest[:NAME_LENGTH]: row for row in rows}

    @classmethod
    def end_named(cls, caller: Caller, name: str) -> None:
        """End another session of the caller's project; raises `NotFound`."""
        found = cls.open_by_name(caller.project_id).get(name)
        if found is None:
            raise NotFound("session", name)
        _end(caller, found.digest, session_key=found.prefix)

    @classmethod
    def end_others(cls, caller: Caller, token: str) -> None:
        """End all sessions of the caller's project but the one of the token."""
        # Only of keys that are not revoked: sessions of the others have ended.
        keys = Key.working(caller.project_id, 0)
        is_other = cls.key.in_(keys) & (cls.digest != digest_of(token).hex())
        facts = {"project": caller.slug, "key": caller.prefix}
        with db.atomic():  # a short one, since the sign-ins of a project are limited
            db.lock_until_commit(caller.project_id)
            cls.delete().where(is_other).execute()
            by = caller.prefix
            emit_after_commit("other_sessions_ended", by=by, topic=SESSIONS, **facts)


class Upload(BaseModel):
    """The file of a session, which waits for an hour at most."""

    session = peewee.ForeignKeyField(Session, primary_key=True, on_delete="CASCADE")
    name = peewee.TextField()
    content = peewee.BlobField()
    at_ms = peewee.BigIntegerField(index=True)
    # How somebody has chosen to read it, after its name: what was chosen for the file
    # before has another one.
    choices = peewee.TextField(null=True)

    @classmethod
    def keep(cls, token: str, content: bytes) -> str:
        """Store a file in place of the previous one, and return its name.

        Raises `RuleError` if too many large files wait, and `NoSuchUpload` if the
        session has ended.
        """
        name, session = randomness.token(TOKEN_BYTES), digest_of(token).hex()
        columns = {"name": name, "content": content, "at_ms": clock.now_ms()}
        row = cls.insert(session=session, **columns)
        kept = row.on_conflict(conflict_target=[cls.session], preserve=[*columns])
        try:
            with db.atomic():
                if len(content) > MAX_BODY_BYTES:
                    cls._require_room(session)
                kept.execute()
        except peewee.IntegrityError:  # the session has ended
            raise NoSuchUpload from None
        return name

    @classmethod
    def _require_room(cls, session: str) -> None:
        project = Key.select(Key.project).join(Session).where(Session.digest == session)
        db.lock_until_commit(project.scalar() or 0)
        is_large = fn.LENGTH(cls.content) > MAX_BODY_BYTES
        is_other = is_large & (cls.session != session)
        is_kept = cls.at_ms > clock.now_ms() - FILE_KEPT_MS
        others = cls.select().join(Session).join(Key).where(Key.project == project)
        if others.where(is_other, is_kept).count() >= MOST_LARGE_FILES:
            text = (
                "Three large files of your project wait. Answer one, or wait an hour."
            )
            raise RuleError(text=text)

    @classmethod
    def find(cls, token: str, name: str) -> Self | None:
        is_kept = cls.at_ms > clock.now_ms() - FILE_KEPT_MS
        upload = cls.get_or_none(cls.session == digest_of(token).hex(), is_kept)
        return upload if upload and upload.name == name else None

    @property
    def chosen(self) -> str | None:
        """What `choose` has stored for this file."""
        name, _, text = (self.choices or "").partition(" ")
        return text if name == self.name else None

    @classmethod
    def choose(cls, token: str, name: str, text: str) -> None:
        """Store how the file is read; raises `NoSuchUpload` if it is deleted."""
        is_this = (cls.session == digest_of(token).hex()) & (cls.name == name)
        if not cls.update(choices=f"{name} {text}").where(is_this).execute():
            raise NoSuchUpload

    @classmethod
    def use(cls, token: str, name: str) -> None:
        """Delete the file; raises `NoSuchUpload` if it is deleted already."""
        is_this = (cls.session == digest_of(token).hex()) & (cls.name == name)
        if not cls.delete().where(is_this).execute():
            raise NoSuchUpload


retentions += [
    Retention(Session, Session.ends_ms),
    Retention(Upload, Upload.at_ms, FILE_KEPT_MS),
]


def _end(caller: Caller, digest: str, **facts: str) -> None:
    facts |= {"project": caller.slug, "key": caller.prefix}
    with db.atomic():
        if Session.delete().where(Session.digest == digest).execute():
            by = caller.prefix
            emit_after_commit("session_ended", by=by, topic=SESSIONS, **facts)


@compiled(db)
def _insert() -> Query:
    return Session.insert(
        digest=placeholder("digest"),
        key=placeholder("key"),
        ends_ms=db.now_ms + IDLE_MS,
        began_ms=db.now_ms,
        seen_ms=db.now_ms,
    ).returning(Session.began_ms)


@compiled(db)
def _select_caller() -> Query:
    return (
        callers()
        .select_extend(*Project.columns(), Session.seen_ms, db.now_ms)
        .join_from(Key, Session)
        .where(
            Session.digest == placeholder("digest"),
            Session.ends_ms > db.now_ms,
            Project.suspended_ms.is_null(),
        )
    )


@compiled(db)
def _mark_seen() -> Query:
    seen_ms = placeholder(Session.seen_ms)
    last_ms, idle_ms = Session.began_ms + LASTS_MS, seen_ms + IDLE_MS
    ends_ms = Case(None, [(last_ms < idle_ms, last_ms)], idle_ms)
    is_due = Session.seen_ms <= seen_ms - STEP_MS
    row = Session.update(seen_ms=seen_ms, ends_ms=ends_ms)
    return row.where(Session.digest == placeholder("digest"), is_due)


class Sight(NamedTuple):
    """The use of a session, and so of its key."""

    key_id: int
    digest: str
    at_ms: int


def _write_seen(sights: list[Sight]) -> None:
    # All processes write in the same order, which prevents a deadlock: keys first, as
    # those who delete one with its sessions.
    for key_id, at_ms in sorted({(sight.key_id, sight.at_ms) for sight in sights}):
        mark_used(key=key_id, used_ms=at_ms)
    for digest, at_ms in sorted({(sight.digest, sight.at_ms) for sight in sights}):
        _mark_seen(digest=digest, seen_ms=at_ms)


# No page waits for a lock only to note that its session was used.
seen = WriteQueue(_write_seen, lambda: timeouts.LIMITS.seen_seconds)


@compiled(db)
def _select_open() -> Query:
    keys = Key.working(placeholder("project"), db.now_ms)
    times = (Session.began_ms, Session.seen_ms)
    return (
        Session.select(Session.digest, Key.prefix, Key.label, *times)
        .join(Key)
        .where(Session.key.in_(keys), Session.ends_ms > db.now_ms)
        .order_by(Session.seen_ms.desc(), Session.digest)
        .limit(MOST_LISTED)
    )
