"""flask check: one line for each check, and the exit code."""

import json
from collections.abc import Callable

from petstore.database import data
from tests import servers

CHECKS = [
    "version",
    "settings",
    "database",
    "clock",
    "redis",
    "files",
    "proxies",
    "hosts",
]


def test_each_check_that_passes_is_one_line(flask: Callable):
    result = flask("check")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.split()[:2] for line in result.stdout.splitlines()]
    assert lines == [[check, "ok"] for check in CHECKS]


def test_json_output_is_one_array(flask: Callable):
    found = json.loads(flask("check", "--json").stdout)
    assert [finding["check"] for finding in found] == CHECKS
    assert {finding["status"] for finding in found} == {"ok"}
    assert all(finding["message"] for finding in found)


def test_failed_check_exits_with_1_after_the_other_checks(database_url: str):
    environ = {"DATABASE_URL": database_url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    ended = servers.flask(environ, "check")
    assert (ended.returncode, ended.stderr) == (1, "")
    lines = [line.split()[:2] for line in ended.stdout.splitlines()]
    assert [check for check, _ in lines] == CHECKS
    assert [check for check, status in lines if status == "wrong"] == ["redis"]


def test_warning_exits_with_0(flask: Callable):
    data.execute_sql(
        "INSERT INTO migration (name, applied) VALUES ('9999_later', CURRENT_TIMESTAMP)"
    )
    result = flask("check")
    data.execute_sql("DELETE FROM migration WHERE name = '9999_later'")
    assert result.exit_code == 0
    assert "database  warning" in result.stdout


def test_invalid_setting_is_reported(sqlite_url: str):
    ended = servers.flask({"DATABASE_URL": sqlite_url, "PORT": "x"}, "check")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: PORT: ")
