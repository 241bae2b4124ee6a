"""flask check: one line for each check, and the exit code."""

import json
from collections.abc import Callable

from petstore.cli.checks import CHECKS
from tests.cli.outputs import text_of
from tests.harness.databases import applied_by_a_newer_version


def statuses(text: str) -> list[list[str]]:
    return [line.split()[:2] for line in text.splitlines()]


def test_each_check_that_passes_is_one_line(flask: Callable):
    assert statuses(text_of(flask("check"))) == [[name, "ok"] for name in CHECKS]


def test_json_output_is_one_array(flask: Callable):
    found = json.loads(text_of(flask("check", "--json")))
    assert [result["check"] for result in found] == list(CHECKS)
    assert {result["status"] for result in found} == {"ok"}
    assert all(result["message"] for result in found)


def test_newer_migration_is_a_warning_that_exits_with_0(flask: Callable):
    with applied_by_a_newer_version("9999_later"):
        text = text_of(flask("check"))
    assert ["database", "warning"] in statuses(text)
    assert "(9999_later); run that version" in text


def test_failed_check_exits_with_1_after_the_other_checks(
    flask_without_redis: Callable,
):
    result = flask_without_redis("check")
    assert result.exit_code == 1
    found = statuses(result.stdout)
    assert [name for name, _ in found] == list(CHECKS)
    assert [name for name, status in found if status == "wrong"] == ["redis"]
