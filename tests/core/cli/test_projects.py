"""flask projects create, list and change, and flask demo."""

import json
from collections.abc import Callable

from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.core.cli.outputs import printed, refusal, table, text_of
from tests.harness.databases import of_both_engines

ENTERPRISE = ("--plan", "enterprise", "--per-minute", "7", "--per-day", "70")
MOST = str(10**12)


def limits_of(flask: Callable) -> tuple[str, ...]:
    """Return the plan and the limits of the only project, as they are listed."""
    [row] = table(flask("projects", "list"))
    names = ("PLAN", "PER MINUTE", "PER DAY", "MAX ROWS")
    return tuple(row[name] for name in names)


@of_both_engines
def test_the_slug_is_made_from_the_name(flask: Callable):
    for name, slug in (
        ("The  Shelter, Ltd.", "the-shelter-ltd"),
        ("  -- Ünïcödé 7 --", "unicode-7"),
        ("株式会社", "project"),
        ("x" * 62 + " y", "x" * 62),
        *(("Shelter", f"shelter{end}") for end in ("", "-2", "-3")),
        *(("x" * 200, slug) for slug in ("x" * 63, "x" * 61 + "-2")),
    ):
        assert printed(flask("projects", "create", "--", name)) == slug
        assert Project.find_by_slug(slug).name == name


def test_a_slug_can_be_given_unless_it_is_or_was_taken(flask: Callable):
    slugs = ["7", "a--b", "x" * 63]
    for slug in slugs:
        assert printed(flask("projects", "create", "Shelter", "--slug", slug)) == slug
    assert [row["SLUG"] for row in table(flask("projects", "list"))] == slugs
    result = flask("projects", "create", "Other", "--slug", "7")
    assert refusal(result) == "The slug 7 is taken by another project."
    flask("projects", "delete", "7", "--yes")
    result = flask("projects", "create", "Other", "--slug", "7")
    assert refusal(result).startswith("The slug 7 belonged to a project that was")
    assert printed(flask("projects", "create", "7")) == "7-2"


def test_invalid_slugs_and_names_are_refused(flask: Callable):
    for slug in ("", "-a", "a-", "A", "ä", "a b", "a_b", "a.b", "x" * 64, "a\n"):
        result = flask("projects", "create", "Shelter", f"--slug={slug}")
        assert refusal(result).startswith("--slug must have 1 to 63 characters")
    for name in ("", " ", "a\nb", "x" * 201):
        assert refusal(flask("projects", "create", name)).startswith("NAME must ")
    assert not Project.select().exists()


def test_json_list_is_one_array(flask: Callable):
    assert text_of(flask("projects", "list", "--json")) == "[]\n"
    flask("projects", "create", "The  Shelter", *ENTERPRISE)
    [row] = json.loads(text_of(flask("projects", "list", "--json")))
    limits = {"perMinute": 7, "perDay": 70, "rows": 0, "maxRows": None}
    named = {"slug": "the-shelter", "name": "The  Shelter", "state": "active"}
    assert row == named | {"plan": "enterprise"} | limits | {
        "created": "2027-03-17T12:00:10Z"
    }


def test_invalid_plan_or_limits_are_refused(flask: Callable, project: Project):
    for options in (
        ("--plan", "gold"),
        ("--plan", "enterprise"),
        ("--plan", "enterprise", "--per-minute", "7"),
        ("--plan", "pro", "--per-minute", "7", "--per-day", "70"),
        ("--per-minute", "7", "--per-day", "70"),
        (*ENTERPRISE, "--per-minute", "0"),
        (*ENTERPRISE, "--per-day", "1.5"),
        (*ENTERPRISE, "--per-day", str(10**12 + 1)),
    ):
        for command in ("create", "change"):
            refusal(flask("projects", command, "shelter", *options))
    assert limits_of(flask) == ("business", "1000", "100000", "1000000")


def test_options_of_missing_limits_are_named(flask: Callable, project: Project):
    for command in ("create", "change"):
        message = refusal(flask("projects", command, "shelter", *ENTERPRISE[:2]))
        assert message.endswith("per day. Give --per-minute and --per-day.")


def test_limits_of_enterprise_change_alone_and_end_with_the_plan(flask: Callable):
    assert printed(flask("projects", "create", "Shelter")) == "shelter"
    assert limits_of(flask) == ("free", "60", "1000", "10000")
    for options, limits in (
        (ENTERPRISE, ("enterprise", "7", "70", "-")),
        (("--per-minute", "8"), ("enterprise", "8", "70", "-")),
        (("--plan", "enterprise", "--per-day", MOST), ("enterprise", "8", MOST, "-")),
        (("--rows", "7"), ("enterprise", "8", MOST, "7")),
        (("--rows", "70"), ("enterprise", "8", MOST, "70")),
        (("--per-minute", "9", "--per-day", "90"), ("enterprise", "9", "90", "70")),
        (("--plan", "pro"), ("pro", "300", "10000", "100000")),
        (ENTERPRISE, ("enterprise", "7", "70", "-")),
    ):
        assert text_of(flask("projects", "change", "shelter", *options)) == ""
        assert limits_of(flask) == limits


def test_a_project_is_suspended_and_resumed(flask: Callable, project: Project):
    for option, state in (
        *(("--suspend", "suspended"), ("--suspend", "suspended")),
        *(("--name=New", "suspended"), ("--resume", "active"), ("--resume", "active")),
    ):
        assert text_of(flask("projects", "change", "shelter", option)) == ""
        assert [row["STATE"] for row in table(flask("projects", "list"))] == [state]


def test_invalid_change_is_refused(flask: Callable, project: Project):
    nothing = (
        "give --name, --plan, --per-minute, --per-day, --rows, --suspend or --resume."
    )
    for arguments, message in (
        (("shelter",), f"Nothing to change: {nothing}"),
        (
            ("shelter", "--plan", "pro", "--name", "\u3164"),
            "--name must have a character that can be seen.",
        ),
        (("shelter", "--rows", "7"), "The limits of the plan business are fixed."),
        (("nobody", "--plan", "pro"), "There is no project 'nobody'."),
        (("a\nb", "--plan", "pro"), r"There is no project 'a\nb'."),
    ):
        assert refusal(flask("projects", "change", *arguments)) == message
    assert limits_of(flask)[0] == "business"


def test_demo_shows_something(flask: Callable, client_of: Callable[[str], FlaskClient]):
    client = client_of(printed(flask("demo")))
    pets = client.get("/v1/pets").json
    assert len(pets) == 10
    assert {pet["status"] for pet in pets} == {"available", "pending"}
    categories = client.get("/v1/categories").json
    assert {each["id"] for each in categories} == {pet["categoryId"] for pet in pets}
    assert len([each["name"] for each in categories if each["name"]]) == 3
    orders = client.get("/v1/store/orders").json
    assert [order["status"] for order in orders] == ["placed"]


def test_database_with_a_project_is_left_alone(flask: Callable, project: Project):
    assert refusal(flask("demo")) == "The database has a project already."
    assert [each.slug for each in Project.all_by_slug()] == [project.slug]


@of_both_engines
def test_rows_that_another_program_has_added_are_counted_again(
    flask: Callable, client: FlaskClient, project: Project, rival: Project
):
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    Pet.insert(project=project, name="Bo", category_id=7, status="sold").execute()
    assert text_of(flask("projects", "count-rows")) == "rival 0\nshelter 3\n"
    assert printed(flask("projects", "count-rows", "shelter")) == "3"
