"""Who may read the files of SQLite."""

from petstore.checks.findings import Finding
from petstore.database import data, is_sqlite
from petstore.engines.files import is_readable_by_others
from petstore.settings import Settings

CHECK = "files"


def check(_settings: Settings) -> Finding:
    """Their owner alone, since they hold the signing secret."""
    if not is_sqlite(data.obj):
        return Finding.ok(CHECK, "none: the data is in PostgreSQL")
    if is_readable_by_others(data.database):
        return Finding.wrong(
            CHECK,
            f"{data.database} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {data.database}*",
        )
    return Finding.ok(CHECK, f"{data.database} is its owner's alone")
