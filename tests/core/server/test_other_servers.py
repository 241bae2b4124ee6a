"""Promises are made for the service's own worker: other servers are told so, once."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from wsgiref.validate import validator

import pytest
from flask import Flask
from werkzeug.test import Client

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness import servers
from tests.harness.clients import PETS
from tests.harness.services import Service, issue_key, serving
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
# What is sent one after the other, and the status of its answer.
CASES = [
    (201, "POST", PETS, REX),
    (200, "PUT", "/v1/categories/7", {"name": "Dögs"}),
    (200, "GET", "/v1/p%65ts", None),
    (204, "OPTIONS", PETS, None),
    (200, "HEAD", PETS, None),
    (404, "GET", "/v1//pets", None),
    (413, "POST", PETS, "x" * 70_000),
    (200, "GET", "/healthz", None),
]


def test_application_keeps_to_pep_3333(app: Flask, project: Project):
    client = Client(validator(app))
    headers = {"Authorization": f"Bearer {Key.issue(project)}"}
    for status, method, path, body in CASES:
        sent = {"method": method, "json": body} if body else {"method": method}
        with client.open(path, headers=headers, **sent) as answer:
            assert answer.status_code == status, path


@pytest.mark.parametrize("worker", ["petstore.server.worker.Worker", "gthread"])
def test_other_worker_is_warned_of_once(
    worker: str, new_database: Callable[[str], str], tmp_path: Path
):
    environ = {"DATABASE_URL": new_database("sqlite"), "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, environ, "--worker-class", worker) as service:
        assert {service.send().status for _ in range(3)} == {200}
        wait_until(lambda: len(service.events("request")) >= 3)
        assert len(service.events("other_server")) == (worker == "gthread")


def test_flask_run_serves_and_is_not_warned_of(
    new_database: Callable[[str], str], tmp_path: Path
):
    environ = {"DATABASE_URL": new_database("sqlite")}
    port, log = servers.free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "flask", "run", "--port", f"{port}"]
    with servers.running(command, port, log, environ):
        served = SimpleNamespace(url=f"http://127.0.0.1:{port}", log=log)
        service = Service(served, issue_key(environ))
        assert service.send(body=REX).status == 201
        assert service.send(body="x" * 70_000).status == 413
        assert not service.events("other_server")
