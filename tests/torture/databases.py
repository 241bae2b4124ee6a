"""Databases for campaigns that break something else."""

from pathlib import Path

from tests import servers


def migrated_sqlite(directory: Path) -> str:
    """The address of a new SQLite database."""
    url = f"sqlite:///{directory / 'petstore.db'}"
    servers.flask({"DATABASE_URL": url}, "migrate").check_returncode()
    return url
