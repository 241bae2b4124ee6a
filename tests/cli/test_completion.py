"""Completion of slugs and prefixes by the shell."""

from collections.abc import Callable

import pytest
from click.shell_completion import BashComplete
from flask import Flask

from petstore.models.projects import Project
from tests.harness.databases import of_one_engine


@pytest.fixture
def complete(app: Flask) -> Callable[..., list[str]]:
    """Return a function that completes the last word of a command as bash does."""

    def complete(*words: str) -> list[str]:
        shell = BashComplete(app.cli, {}, "flask", "_FLASK_COMPLETE")
        return [item.value for item in shell.get_completions([*words[:-1]], words[-1])]

    return complete


@of_one_engine
def test_slugs_are_completed(complete: Callable, project: Project, rival: Project):
    assert complete("projects", "change", "sh") == ["shelter"]
    assert complete("projects", "delete", "") == ["rival", "shelter"]
    assert complete("keys", "create", "--project", "r") == ["rival"]
    assert complete("usage", "--project", "x") == []


@of_one_engine
def test_prefixes_are_completed(complete: Callable, key: str):
    assert complete("keys", "revoke", "pet_") == [key[:16]]


@pytest.mark.parametrize("environ", [{"DATABASE_URL": "postgresql://127.0.0.1:1/d"}])
def test_nothing_is_completed_without_a_database(complete: Callable):
    assert complete("projects", "change", "") == []
