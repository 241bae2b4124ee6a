"""SQLite databases for campaigns that break something else."""

from pathlib import Path

from tests import servers


def migrated_sqlite(directory: Path) -> str:
    """Create a migrated SQLite database and return its URL."""
    url = f"sqlite:///{directory / 'petstore.db'}"
    servers.flask({"DATABASE_URL": url}, "migrate").check_returncode()
    return url
