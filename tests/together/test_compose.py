"""deploy/compose.yaml fits the image, the settings and the files of the project."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis

from petstore.settings import read_settings, variables
from tests.harness.clusters import Server
from tests.harness.servers import ROOT, free_port

DEPLOY = ROOT / "deploy"
TEXT = (DEPLOY / "compose.yaml").read_text()
SCRIPT = (DEPLOY / "compose.sh").read_text()
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
GIVEN = {
    "TAG": "1.2.0",
    "PETSTORE_BASE_DOMAIN": "pets.example.org",
    "ACME_EMAIL": "ops@example.org",
    "POSTGRES_PASSWORD": "2f" * 24,
    "REDIS_PASSWORD": "3e" * 24,
}
VARIABLE = re.compile(r"\$\{(\w+)(:\?)?\}")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(
    VARIABLE.sub(lambda found: GIVEN[found[1]], TEXT)
)["services"]


def test_script_gives_every_variable_and_none_has_a_default():
    assert re.findall(r"^\t\t\t([A-Z_]+)=", SCRIPT, re.MULTILINE) == list(GIVEN)
    assert {found[1] for found in VARIABLE.finditer(TEXT) if found[2]} == set(GIVEN)
    assert TEXT.count("$") == len(VARIABLE.findall(TEXT))


@pytest.mark.parametrize("name", ["release", "web"])
def test_service_is_that_of_the_containerfile_and_understands_its_settings(name: str):
    service = SERVICES[name]
    assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    [data] = re.findall("^VOLUME (.+)$", CONTAINERFILE, re.MULTILINE)
    assert data in service["tmpfs"]
    assert set(service["environment"]) <= variables().keys()
    settings = read_settings(service["environment"])
    assert settings.trusted_proxies == 1
    assert GIVEN["POSTGRES_PASSWORD"] in settings.database_url


@pytest.mark.parametrize("name", SERVICES)
def test_containers_have_no_rights_and_only_caddy_is_reached_from_outside(name: str):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert ("ports" in service) == (name == "caddy")


def test_caddy_has_the_delivered_file_and_what_that_reads():
    caddy = SERVICES["caddy"]
    [file, _] = caddy["volumes"]
    caddyfile = DEPLOY / file.split(":")[0]
    asked = set(re.findall(r"{\$(\w+):", caddyfile.read_text()))
    assert set(caddy["environment"]) == asked
    [port] = re.findall(r"\bPORT=(\d+)", CONTAINERFILE)
    assert caddy["environment"]["PETSTORE_UPSTREAMS"] == f"web:{port}"
    assert caddy["environment"]["PETSTORE_ASK"] == f"web:{port}"


def test_redis_asks_for_the_password_and_evicts_nothing(tmp_path: Path):
    program, *options = SERVICES["redis"]["command"]
    assert program == "redis-server"
    with Server(free_port(), tmp_path, tuple(options)) as server:
        client = Redis.from_url(server.url, password=GIVEN["REDIS_PASSWORD"])
        assert client.config_get("maxmemory*")["maxmemory-policy"] == "noeviction"
        client.close()
    given = read_settings(SERVICES["web"]["environment"]).redis_url
    assert given == f"redis://:{GIVEN['REDIS_PASSWORD']}@redis:6379/0"
