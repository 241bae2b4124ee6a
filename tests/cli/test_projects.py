"""flask projects create, list and change."""

import json
from collections.abc import Callable

import pytest

from petstore.models.projects import Project
from tests.cli.outputs import printed, refusal, table, text_of
from tests.harness.databases import of_one_engine

ENTERPRISE = ("--plan", "enterprise", "--per-minute", "7", "--per-day", "70")
MOST = str(10**12)
NOTHING_TO_CHANGE = (
    "Nothing to change: give --name, --plan, --per-minute, --per-day or --rows."
)


def limits_of(flask: Callable) -> tuple[str, str, str]:
    """Return the plan and the limits of the only project, as they are listed."""
    [row] = table(flask("projects", "list"))
    return row["PLAN"], row["PER MINUTE"], row["PER DAY"]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("The  Shelter, Ltd.", "the-shelter-ltd"),
        ("  -- Ünïcödé 7 --", "unicode-7"),
        ("株式会社", "project"),
        ("x" * 200, "x" * 63),
        ("x" * 62 + " y", "x" * 62),
    ],
)
def test_the_slug_is_made_from_the_name(flask: Callable, name: str, slug: str):
    assert printed(flask("projects", "create", "--", name)) == slug
    assert Project.by_slug(slug).name == name


def test_generated_slug_that_is_taken_gets_a_number(flask: Callable):
    names = ["Shelter"] * 3 + ["x" * 63] * 2
    slugs = [printed(flask("projects", "create", name)) for name in names]
    assert slugs[:3] == ["shelter", "shelter-2", "shelter-3"]
    assert slugs[3:] == ["x" * 63, "x" * 61 + "-2"]


def test_a_slug_can_be_given_unless_it_is_taken(flask: Callable):
    slugs = ["a--b", "x" * 63, "7"]
    for slug in slugs:
        assert printed(flask("projects", "create", "Shelter", "--slug", slug)) == slug
    result = flask("projects", "create", "Other", "--slug", "7")
    assert refusal(result) == "The slug 7 is taken by another project."
    listed = [row["SLUG"] for row in table(flask("projects", "list"))]
    assert listed == sorted(slugs)


def test_slug_of_a_deleted_project_is_not_given_again(flask: Callable):
    for name in ("Shelter", "Shelter"):
        flask("projects", "create", name)
    for slug in ("shelter", "shelter-2"):
        flask("projects", "delete", slug, "--yes")
    result = flask("projects", "create", "Other", "--slug", "shelter")
    assert refusal(result).startswith(
        "The slug shelter belonged to a project that was deleted."
    )
    assert printed(flask("projects", "create", "Shelter")) == "shelter-3"


@of_one_engine
def test_invalid_slugs_and_names_are_refused(flask: Callable):
    for slug in ("", "-a", "a-", "A", "ä", "a b", "a_b", "a.b", "x" * 64, "a\n"):
        result = flask("projects", "create", "Shelter", f"--slug={slug}")
        assert refusal(result).startswith("--slug must have 1 to 63 characters")
    for name in ("", " ", "a\nb", "x" * 201):
        assert refusal(flask("projects", "create", name)).startswith("NAME must ")
    assert not Project.select().exists()


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ((), ("free", "60", "1000")),
        (("--plan", "pro"), ("pro", "300", "10000")),
        ((*ENTERPRISE, "--per-day", MOST), ("enterprise", "7", MOST)),
    ],
)
def test_the_list_shows_each_plan_with_its_limits(
    flask: Callable, options: tuple, limits: tuple
):
    printed(flask("projects", "create", "Shelter", *options))
    assert limits_of(flask) == limits


def test_json_list_is_one_array(flask: Callable):
    assert text_of(flask("projects", "list", "--json")) == "[]\n"
    flask("projects", "create", "The  Shelter", *ENTERPRISE)
    assert json.loads(text_of(flask("projects", "list", "--json"))) == [
        {
            "slug": "the-shelter",
            "name": "The  Shelter",
            "plan": "enterprise",
            "perMinute": 7,
            "perDay": 70,
            "rows": 0,
            "maxRows": None,
            "created": "2027-03-17T12:00:10Z",
        }
    ]


@of_one_engine
@pytest.mark.parametrize(
    "options",
    [
        ("--plan", "gold"),
        ("--plan", ""),
        ("--plan", "enterprise"),
        ("--plan", "enterprise", "--per-minute", "7"),
        ("--plan", "pro", "--per-minute", "7", "--per-day", "70"),
        ("--per-minute", "7", "--per-day", "70"),
        (*ENTERPRISE, "--per-minute", "0"),
        (*ENTERPRISE, "--per-day", "1.5"),
        (*ENTERPRISE, "--per-day", str(10**12 + 1)),
    ],
)
@pytest.mark.parametrize("command", ["create", "change"])
def test_invalid_plan_or_limits_are_refused(
    flask: Callable, project: Project, command: str, options: tuple
):
    refusal(flask("projects", command, "shelter", *options))
    assert limits_of(flask) == ("business", "1000", "100000")


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        (("--per-minute", "8"), ("enterprise", "8", "70")),
        (("--plan", "enterprise", "--per-day", "80"), ("enterprise", "7", "80")),
        (("--per-minute", "8", "--per-day", "80"), ("enterprise", "8", "80")),
        (("--plan", "free"), ("free", "60", "1000")),
    ],
)
def test_limits_of_enterprise_change_alone_and_end_with_the_plan(
    flask: Callable, options: tuple, limits: tuple
):
    flask("projects", "create", "Shelter", *ENTERPRISE)
    assert text_of(flask("projects", "change", "shelter", *options)) == ""
    assert limits_of(flask) == limits


@of_one_engine
def test_name_changes_alone_or_with_the_plan(flask: Callable, project: Project):
    for options in (("--name", "Möhre"), ("--name", "Katzen", "--plan", "pro")):
        assert text_of(flask("projects", "change", "shelter", *options)) == ""
        [row] = table(flask("projects", "list"))
        assert (row["SLUG"], row["NAME"]) == ("shelter", options[1])
    assert row["PLAN"] == "pro"


def test_rows_of_enterprise_are_limited_by_the_operator(flask: Callable):
    flask("projects", "create", "Shelter", *ENTERPRISE)

    def max_rows() -> str:
        [row] = table(flask("projects", "list"))
        return row["MAX ROWS"]

    assert max_rows() == "-"
    for most in ("7", "70"):
        assert text_of(flask("projects", "change", "shelter", "--rows", most)) == ""
        assert max_rows() == most
    flask("projects", "change", "shelter", "--per-day", "80")
    assert max_rows() == "70"
    flask("projects", "change", "shelter", "--plan", "pro")
    assert max_rows() == "100000"
    result = flask("projects", "change", "shelter", "--rows", "7")
    assert refusal(result) == "The limits of the plan pro are fixed."
    flask("projects", "change", "shelter", *ENTERPRISE)
    assert max_rows() == "-"


@of_one_engine
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("shelter",), NOTHING_TO_CHANGE),
        (
            ("shelter", "--plan", "pro", "--name", " "),
            "--name must not be blank and must not contain control characters.",
        ),
        (("nobody", "--plan", "pro"), "There is no project 'nobody'."),
        (("a\nb", "--plan", "pro"), r"There is no project 'a\nb'."),
        ((), "Missing argument 'SLUG'."),
    ],
)
def test_invalid_change_is_refused(
    flask: Callable, project: Project, arguments: tuple, message: str
):
    assert refusal(flask("projects", "change", *arguments)) == message
