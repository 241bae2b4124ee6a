"""flask keys create, list, rotate, revoke and unban."""

from collections.abc import Iterator
from typing import Any

import click

from petstore import clock
from petstore.cli.commands import Group, Row, format_instant, say, table
from petstore.cli.projects import (
    chosen_project,
    find_project,
    limit_option,
    project_option,
)
from petstore.models.credentials import prefix_of
from petstore.models.grants import (
    DEFAULT_GRACE_SECONDS,
    FULL,
    MAX_EXPIRY_DAYS,
    MAX_GRACE_SECONDS,
    ROLES,
    Grant,
)
from petstore.models.keys import Key
from petstore.schemas.fields import name_error

keys = Group(name="keys", help="API keys of the projects.")


@keys.command()
@project_option("Slug of the project; optional if there is only one.")
@click.option("--label", help="What the key is for.")
@click.option("--expires-in", type=float, metavar="DAYS", help="Days the key works.")
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default=FULL,
    show_default=True,
    help="public: read animals and categories; read: read everything; write: use the "
    "whole API; full: everything.",
)
@limit_option("minute", "Requests of this key per {}; at most those of the project.")
@limit_option("day", "Requests of this key per {}; at most those of the project.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    help="The address of a website whose pages may use the key; for the role public.",
)
def create(
    slug: str | None,
    label: str | None,
    expires_in: float | None,
    **granted: Any,
) -> None:
    """Create a key and print it; it is not shown again."""
    if label is not None and (error := name_error(label)):
        raise click.UsageError(f"--label {error}.")
    grant = Grant(**granted)
    project = chosen_project(slug)
    expires_ms = _expiry_ms(expires_in)
    click.echo(Key.issue(project, grant, label=label, expires_ms=expires_ms))
    if grant.note:
        click.echo(grant.note, err=True)
    say(f"Created this key of {project.slug}; it is not shown again.")


@keys.command("list")
@project_option("Only the keys of this project.")
@table(
    "prefix, label, role, state, created, last used, expires, revoked, banned until, "
    "per minute, per day, origins, project"
)
def list_keys(slug: str | None) -> Iterator[Row]:
    """Print the keys, without their secret part.

    The last use is up to ten minutes old.
    """
    for key in Key.all_by_id(None if slug is None else find_project(slug)):
        yield (
            key.prefix,
            key.label,
            key.role,
            key.state,
            format_instant(key.created_ms),
            format_instant(key.last_used_ms),
            format_instant(key.ends_ms),
            format_instant(key.revoked_ms),
            format_instant(key.banned_until_ms if key.is_banned else None),
            key.per_minute,
            key.per_day,
            (key.origins or "").split(),
            key.project.slug,
        )


@keys.command()
@click.argument("prefix")
@click.option(
    "--grace",
    type=click.IntRange(0, MAX_GRACE_SECONDS),
    default=DEFAULT_GRACE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long the old key still works; 0 ends it now.",
)
def rotate(prefix: str, grace: int) -> None:
    """Print a new key that replaces an old one."""
    click.echo(_find_key(prefix).rotate(grace))
    say(f"Created this key in place of {prefix}, which ends in {grace:,} seconds.")


@keys.command()
@click.argument("prefix")
def revoke(prefix: str) -> None:
    """End a key on its very next request."""
    _find_key(prefix).revoke()
    say(f"Revoked {prefix}: its next request is refused.")


@keys.command()
@click.argument("prefix")
def unban(prefix: str) -> None:
    """End the ban of a key."""
    _find_key(prefix).unban()
    say(f"{prefix} is not banned any more.")


def _find_key(prefix: str) -> Key:
    if beginning := prefix_of(prefix):  # a message must not repeat a whole key
        raise click.UsageError(f"Give only the beginning of the key: {beginning}")
    if key := Key.find_by_prefix(prefix):
        return key
    raise click.UsageError(f"There is no key {prefix!r}; see flask keys list.")


def _expiry_ms(days: float | None) -> int | None:
    if days is None:
        return None
    if not 0 < days <= MAX_EXPIRY_DAYS:  # nor is NaN
        raise click.UsageError(
            f"--expires-in must be more than 0 and at most {MAX_EXPIRY_DAYS} days."
        )
    return clock.now_ms() + int(days * clock.MS_PER_DAY)
