"""Completion of slugs and prefixes by the shell, and suggestions for typos."""

from collections.abc import Callable

import pytest
from click.shell_completion import BashComplete
from flask import Flask

from petstore.models.projects import Project
from tests.cli.outputs import refusal
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("projcts",), "No such command 'projcts'. Did you mean 'projects'?"),
        (("keys", "revok"), "No such command 'revok'. Did you mean 'revoke'?"),
        (("usage", "--day"), "No such option '--day'. Did you mean '--days'?"),
        (
            ("keys", "create", "--project", "sheltr"),
            "There is no project 'sheltr'. Did you mean 'shelter'?",
        ),
    ],
)
@pytest.mark.usefixtures("project")
@of_one_engine
def test_typo_is_refused_with_a_suggestion(
    flask: Callable, arguments: tuple[str, ...], message: str
):
    assert refusal(flask(*arguments)) == message


@of_one_engine
def test_mistyped_prefix_is_refused_with_a_suggestion(flask: Callable, key: str):
    mistyped = key[:15] + "!"
    message = refusal(flask("keys", "revoke", mistyped))
    assert message.endswith(f"Did you mean {key[:16]!r}?")
