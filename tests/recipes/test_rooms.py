"""Each way in but the API, and the hosting, can be deleted with what names it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.harness.servers import ROOT
from tests.recipes import recipes

# What goes beside the folder and its lines in `create_app`: patterns of lines, by file.
ELSEWHERE = {
    "hosting": {
        "petstore/dashboard/__init__.py": "    domains,|    .Domains.: domains,"
    },
    "cli": {
        "wsgi.py": "from petstore import cli",
        "petstore/gunicorn_hooks.py": (
            "    from petstore.cli.check import startup_warnings"
            "|        for warning in startup_warnings.*"
            "|            server.log.warning.*"
        ),
    },
}
VISITED = {
    "openapi": ["/docs", "/openapi.json"],
    "monitoring": ["/healthz", "/readyz", "/metrics"],
    "dashboard": ["/dashboard", "/dashboard/animals", "/dashboard/keys"],
}
SCRIPT = """
    from flask import Flask
    from petstore.models.keys import Key
    from petstore.models.projects import Plan, Project
    from petstore.storage.migrator import migrate
    from wsgi import app

    migrate()
    client = app.test_client()
    key = Key.issue(Project.add("Shelter", None, Plan("free")))
    bearer = {"Authorization": f"Bearer {key}"}
    rex = {"name": "Rex", "categoryId": 7}
    assert client.post("/v1/pets", json=rex, headers=bearer).status_code == 201
    [pet] = client.get("/v1/pets", headers=bearer).json
    assert pet == rex | {"id": 1, "status": "available"}
    assert client.get("/v1/pets").status_code == 401
    if "dashboard" in REST:
        form = {"data": {"key": key}, "headers": {"Origin": "http://localhost"}}
        assert client.post("/dashboard/sign-in", **form).status_code == 303
    for paths in REST.values():
        for path in paths:
            assert client.get(path).status_code == 200, path
"""


@pytest.mark.parametrize(
    "room", ["dashboard", "hosting", "openapi", "monitoring", "cli"]
)
def test_the_rest_works_without(room: str, tmp_path: Path):
    copy = recipes.copy_of_the_service(tmp_path)
    shutil.copy(ROOT / "wsgi.py", copy)
    shutil.rmtree(copy / "petstore" / room)
    factory = copy / "petstore" / "__init__.py"
    lines = factory.read_text().replace(f" {room},", "").replace(f", {room}\n", "\n")
    factory.write_text(re.sub(f"    {room}\\.init_app.*\n", "", lines))
    for file, gone in ELSEWHERE.get(room, {}).items():
        text = re.sub(
            f"^(?:{gone})\n", "", (copy / file).read_text(), flags=re.MULTILINE
        )
        (copy / file).write_text(text)
    if room == "cli":
        wsgi = (copy / "wsgi.py").read_text()
        made = "cli.create_app() if looks_up_command else petstore.create_app()"
        (copy / "wsgi.py").write_text(wsgi.replace(made, "petstore.create_app()"))
    if room == "hosting":
        (copy / "petstore" / "dashboard" / "domains.py").unlink()
    rest = {name: paths for name, paths in VISITED.items() if name != room}
    ended = subprocess.run(
        [sys.executable, "-c", f"REST = {rest}" + dedent(SCRIPT)],
        cwd=copy,
        env={"DATABASE_URL": "sqlite:///rooms.db"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
