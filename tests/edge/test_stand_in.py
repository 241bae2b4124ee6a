"""Where the system has no epoll, gunicorn's own threaded worker serves."""

from pathlib import Path

from tests.services import serving

# What a system other than Linux does not have.
WITHOUT = """
import os, select
for module, prefix in ((select, "epoll"), (os, "eventfd")):
    for name in [name for name in vars(module) if name.lower().startswith(prefix)]:
        delattr(module, name)
"""


def test_it_serves(sqlite_url: str, tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    environ = {"DATABASE_URL": sqlite_url, "PYTHONPATH": str(tmp_path)}
    with serving(tmp_path, environ) as service:
        answer = service.ask()
    assert (answer.status, answer.json) == (200, [])
    assert answer.headers["Server"] == "gunicorn"  # which ours does not say
