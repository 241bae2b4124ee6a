"""Arguments, help and output of commands, from a shell and as the docs print them."""

import os
from collections.abc import Callable

import pytest

from petstore import clock
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.core.cli.outputs import refusal
from tests.harness import servers
from tests.harness.documents import commands_below
from tests.harness.shell import printed_in_shell


def test_refusal_is_one_line(flask: Callable, project: Project):
    for arguments, message in (
        (("projcts",), "No such command 'projcts'. Did you mean 'projects'?"),
        (("migrate", "extra"), "Got unexpected extra argument (extra)"),
        (("migrate", "--bogus"), "No such option '--bogus'."),
        (("keys", "revok"), "No such command 'revok'. Did you mean 'revoke'?"),
        (("usage", "--day"), "No such option '--day'. Did you mean '--days'?"),
        (("usage", "--days", "32"), "Invalid value for '--days': 32 is not in the"),
        (("projects", "create"), "Missing argument 'NAME'."),
        (("projects", "create", "x", "--slug"), "Option '--slug' requires an"),
        (("keys", "a\nb"), r"No such command 'a\nb'."),
        (("keys", "create", "two\nlines"), "Got unexpected extra argument (two lines)"),
        (("keys", "revoke", "\udcff"), r"'\udcff' cannot be encoded in utf-8."),
        (("data", "copy"), "Missing argument 'DATABASE_URL'."),
        *(
            ((*command, "--project", "x"), "There is no project 'x'.")
            for command in (["activity"], ["requests"], ["usage"], ["domains", "list"])
        ),
    ):
        assert refusal(flask(*arguments)).startswith(message)


def test_group_without_a_command_shows_its_help(flask: Callable):
    for group in ("animals", "data", "domains", "keys", "projects"):
        assert f" {group} [OPTIONS] COMMAND" in (shown := flask(group).output)
        assert "\nCommands:\n" in shown


def test_commands_behave_the_same_in_a_shell(sqlite_url: str):
    environ = {"DATABASE_URL": sqlite_url}
    slug = servers.flask(environ, "projects", "create", "Shelter")
    assert (slug.returncode, slug.stdout) == (0, "shelter\n")
    key = servers.flask(environ, "keys", "create")
    assert key.stdout.startswith("pet_")
    assert key.stdout.count("\n") == 1
    assert key.stdout.strip() not in key.stderr
    refused = servers.flask(environ, "keys", "revoke", os.fsdecode(b"\xff"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "Error: '\\udcff' cannot be encoded in utf-8.\n"


[NEVER_USED] = commands_below("docs/operating.md", "Commands")
[MOVE] = commands_below("docs/operating.md", "Moving to PostgreSQL")
TARGET = "postgresql://petstore@db.example.org/petstore"


def test_keys_that_were_never_used_are_listed(project: Project, database_url: str):
    used, unused = (Key.issue(project)[:16] for _ in range(2))
    Key.update(last_used_ms=clock.now_ms()).where(Key.prefix == used).execute()
    assert printed_in_shell(NEVER_USED, DATABASE_URL=database_url) == f"{unused}\n"


@pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
def test_projects_move(project: Project, database_url: str, unmigrated_url: str):
    move = MOVE.replace(TARGET, f"'{unmigrated_url}'").replace("cat password", "echo x")
    assert printed_in_shell(move, DATABASE_URL=database_url) == ""
    moved = servers.flask({"DATABASE_URL": unmigrated_url}, "projects", "list")
    assert [line.split()[0] for line in moved.stdout.splitlines()[1:]] == [project.slug]
