"""Slugs of projects and prefixes of keys: completed by the shell, or suggested."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import get_close_matches

import click
import peewee

from petstore.models.keys import Key
from petstore.models.projects import Project

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _completing(words: Callable[[], list[str]]) -> Complete:
    """Return a function for `shell_complete`; without a database it finds nothing."""

    def complete(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
        with suppress(peewee.DatabaseError):
            return [word for word in words() if word.startswith(begun)]
        return []

    return complete


def slugs() -> list[str]:
    """Return the slug of every project."""
    return [project.slug for project in Project.all_by_slug()]


def prefixes() -> list[str]:
    """Return the prefix of every key."""
    return [key.prefix for key in Key.all_by_id(None)]


complete_slug = _completing(slugs)
complete_prefix = _completing(prefixes)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that suggests the most similar word, or nothing."""
    similar = get_close_matches(word, known, n=1)
    return f" Did you mean {similar[0]!r}?" if similar else ""
