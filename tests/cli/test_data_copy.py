"""flask data copy: all rows, into an empty database of either engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas.database import Counter
from petstore.storage import migrator
from petstore.storage.copies import COPIED_AT_ONCE
from petstore.storage.database import Databases, databases_at
from tests.cli.contents import contents, fill
from tests.cli.loads import adding, ids_of_added
from tests.cli.outputs import failure, refusal, text_of
from tests.harness import servers
from tests.harness.browser import add_pet
from tests.harness.clocks import Clock
from tests.harness.services import serving

to_sqlite = pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)
to_postgresql = pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
between_engines = pytest.mark.parametrize(
    ("database_url", "unmigrated_url"),
    [("sqlite", "postgresql"), ("postgresql", "sqlite")],
    indirect=True,
)
PASSWORD = "Geheimnis"
NAMES = ["Rex", "\\N", r"\t", "O'Malley, 'the \"cat\"'", "Zoë 🐈", " x "]


@pytest.fixture
def target(unmigrated_url: str) -> Iterator[Databases]:
    """The databases copied to, opened for inspection."""
    target = databases_at(unmigrated_url, prepares_statements=False)
    yield target
    target.close()


@between_engines
def test_rows_are_copied_unchanged_and_ids_are_not_reused(
    environ: dict[str, str],
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
    clock: Clock,
):
    for name in NAMES:
        add_pet(project, name)
    fill(client, project, clock)
    Secret.shared("sessions")
    columns = ("short_ends_ms", "short_used", "long_ends_ms", "long_used", "hit_ms")
    row = dict.fromkeys(columns, 0) | {"is_granted": True}
    numbers = range(2 * COPIED_AT_ONCE)  # more than fit into a statement
    Counter.insert_many(row | {"subject": f"{number}"} for number in numbers).execute()
    Pet.withdraw(project.id, add_pet(project, "Last"))
    # In a process of its own, which has imported no more than the command does.
    done = servers.flask(environ, "data", "copy", unmigrated_url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert contents(target) == contents()
    assert Counter.select().count(target.counters) == Counter.select().count()
    assert all(contents().values())
    for table, last in [(PetTable, len(NAMES) + 2), (Project, 1), (Domain, 1)]:
        assert target.db.last_id(table._meta.table_name) == last
    for url in (unmigrated_url, environ["DATABASE_URL"]):
        assert refusal(flask("data", "copy", url)) == (
            "Cannot copy there: it is not empty: there are rows in project."
        )


@to_postgresql
def test_copy_under_load_is_a_snapshot_with_the_next_id(
    environ: dict[str, str],
    flask: Callable,
    unmigrated_url: str,
    target: Databases,
    tmp_path: Path,
):
    with serving(tmp_path, environ) as service, adding(service) as clients:
        before = ids_of_added(clients)
        text_of(flask("data", "copy", unmigrated_url))
    assert clients.statuses() == {200, 201}
    query = PetTable.select(PetTable.id).order_by(PetTable.id)
    ids = [row.id for row in query.execute(target.db)]
    assert before <= set(ids)
    assert ids == list(range(1, len(ids) + 1))
    columns = {"project": 1, "name": "Tom", "category_id": 1, "status": "sold"}
    [added] = PetTable.insert(columns).returning(PetTable.id).execute(target.db)
    assert added.id == len(ids) + 1


@to_sqlite
def test_target_with_newer_migrations_is_refused(
    flask: Callable, unmigrated_url: str, target: Databases
):
    migrator.migrate(target)
    target.db.execute_sql(
        "INSERT INTO migration (name, applied) VALUES ('9999_later', '2027-01-01')"
    )
    target.close()
    assert refusal(flask("data", "copy", unmigrated_url)) == (
        "Cannot copy there: it is of a newer version of the service (9999_later)."
    )


def test_message_about_a_target_does_not_show_its_password(flask: Callable):
    for url in ("x", f"mysql://u:{PASSWORD}@h/d", "sqlite:///", ""):
        message = refusal(flask("data", "copy", url))
        assert message.startswith("The argument DATABASE_URL: ")
        assert PASSWORD not in message
    away = flask("data", "copy", f"postgresql://u:{PASSWORD}@127.0.0.1:1/d")
    assert failure(away).startswith("Nothing was copied: ")
    assert PASSWORD not in away.stderr


@to_postgresql
def test_failed_copy_leaves_the_target_empty(
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
    clock: Clock,
):
    fill(client, project, clock)
    PetTable.update(name="a\0").execute()
    failure(flask("data", "copy", unmigrated_url))
    assert not any(contents(target).values())
