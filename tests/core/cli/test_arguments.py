"""Arguments, help and output of commands, from a shell and as the docs print them."""

import os
from collections.abc import Callable

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
        (("keys", "create", "--rol"), "No such option '--rol'. Did you mean '--role'?"),
        (("projects", "create"), "Missing argument 'NAME'."),
        (("projects", "create", "x", "--slug"), "Option '--slug' requires an"),
        (("keys", "a\nb"), r"No such command 'a\nb'."),
        (("keys", "create", "two\nlines"), "Got unexpected extra argument (two lines)"),
        (("keys", "revoke", "\udcff"), r"'\udcff' cannot be encoded in utf-8."),
    ):
        assert refusal(flask(*arguments)).startswith(message)


def test_group_without_a_command_shows_its_help(flask: Callable):
    for group in ("keys", "projects"):
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


def test_keys_that_were_never_used_are_listed(project: Project, database_url: str):
    used, unused = (Key.issue(project)[:16] for _ in range(2))
    Key.update(last_used_ms=clock.now_ms()).where(Key.prefix == used).execute()
    assert printed_in_shell(NEVER_USED, DATABASE_URL=database_url) == f"{unused}\n"
