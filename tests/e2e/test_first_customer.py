"""From an empty Debian to a customer, a restored backup and an upgrade, as printed.

Each command of the checklist in docs/operating.md runs in a host of its own, with the
PostgreSQL, Redis, nginx and certbot of Debian; a certificate comes from Pebble.
"""

import json
import re
from collections.abc import Iterator

import pytest
import trustme

from tests.e2e.empty_host import Host, empty_host
from tests.harness.documents import commands_below
from tests.harness.releases import commit_of
from tests.harness.servers import ROOT

PAGE = "docs/operating.md"
CHECKLIST = commands_below(PAGE, "From an empty host to the first customer")
(INSTALL, SET, SET_SERVERS, START, CADDY, NGINX, TLS, CHECK, CUSTOMER, BACK_UP) = (
    CHECKLIST
)
INSTALL_RELEASE, SWITCH, GO_BACK = commands_below(PAGE, "Upgrade and rollback")
RESTORE_SQLITE, RESTORE_POSTGRESQL, NEW_ID, REVOKE = commands_below(PAGE, "Restore")
API, DIRECT = "https://api.example.org", "http://127.0.0.1:8000"
A_DAY = 10_000  # requests of the customer's plan
# What certbot asks at a terminal, and whom; curl trusts what that authority issues.
AUTHORITY = """
export PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=0
pebble -config {0}/pebble.json > /var/log/units/pebble 2>&1 &
printf '%s\\n' 'server = https://127.0.0.1:14000/dir' 'no-verify-ssl = true' \\
    'non-interactive = true' 'agree-tos = true' \\
    'register-unsafely-without-email = true' \\
    >> /etc/letsencrypt/cli.ini
curl --silent --insecure --retry 60 --retry-delay 1 --retry-connrefused \\
    https://127.0.0.1:15000/roots/0 >> /etc/ssl/certs/ca-certificates.crt
"""
# Where the repository is cloned from, with a tag that a checkout may lack.
TAGS = """
git clone --quiet --bare {0} /srv/petstore.git
git -C /srv/petstore.git tag --force {1} {2}
git config --system --rename-section 'url.{0}' url./srv/petstore.git
"""
# Caddy cannot reach the authority that it asks.
OWN_CERTIFICATE = """
sed -i '/issuer acme {/,/}/c issuer internal' /etc/caddy/Caddyfile
systemctl reload caddy
"""
KEYS = "petstore keys list --project city-shelter"
AS_CUSTOMER = 'curl --silent --include --header "Authorization: Bearer $KEY"'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host with PostgreSQL, Redis and nginx, after all steps of the checklist."""
    directory = tmp_path_factory.mktemp("authority")
    own = trustme.CA().issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(directory / "pebble.pem")
    own.private_key_pem.write_to_path(directory / "pebble.key")
    settings = {
        "listenAddress": "127.0.0.1:14000",
        "managementListenAddress": "127.0.0.1:15000",
        "certificate": str(directory / "pebble.pem"),
        "privateKey": str(directory / "pebble.key"),
        "httpPort": 80,
        "tlsPort": 443,
    }
    (directory / "pebble.json").write_text(json.dumps({"pebble": settings}))
    with empty_host() as host:
        host.run(AUTHORITY.format(directory))
        for step in (INSTALL, SET, SET_SERVERS, START, NGINX, TLS):
            host.run(step)
        checked = host.run(CHECK)
        assert re.search("database +ok .*postgresql", checked)
        assert re.search("redis +ok .*noeviction", checked)
        assert host.run(CUSTOMER).split() == ["city-shelter", "[]"]
        host.run(BACK_UP)
        yield host


def add(host: Host, name: str, api: str = API) -> None:
    body = json.dumps({"name": name, "categoryId": 1})
    assert " 201" in host.run(f"{AS_CUSTOMER} --json '{body}' {api}/v1/pets")


def read(host: Host, api: str = API) -> tuple[list[str], int]:
    """Return the names of all animals, and how many requests were counted today."""
    head, _, body = host.run(f"{AS_CUSTOMER} {api}/v1/pets").partition("\n\n")
    [left] = re.findall('"day";r=([0-9]+)', head)
    return [animal["name"] for animal in json.loads(body)], A_DAY - int(left)


def test_stranger_restores_postgresql_and_decides_about_the_counts_in_redis(
    served: Host,
):
    add(served, "Rex")
    served.run("spare=$(petstore keys create --project city-shelter --label spare)")
    served.run("systemctl start petstore-backup")
    add(served, "Tom")
    served.run("petstore keys revoke ${spare:0:16} 2> service.log")
    names, counted = read(served)
    assert names == ["Rex", "Tom"]
    served.run(RESTORE_POSTGRESQL)
    assert read(served) == (["Rex"], counted + 1)
    served.run(NEW_ID)
    assert read(served) == (["Rex"], 1)
    assert "spare  full  active" in served.run(KEYS)
    served.run(REVOKE)
    assert "spare  full  revoked" in served.run(KEYS)


def test_backups_are_private_and_one_that_fails_is_a_failed_unit(served: Host):
    listed = served.run("stat --format '%a %U' /var/lib/petstore/backups/*")
    assert set(listed.splitlines()) == {"600 petstore"}
    served.run("! flock /var/lib/petstore/backups systemctl start petstore-backup")


def test_nginx_answers_json_while_the_service_is_away(served: Host):
    served.run("systemctl stop petstore")
    require_json(served)
    served.run("systemctl start petstore")


def require_json(host: Host, *options: str) -> None:
    """Check what the proxy answers while the service is away."""
    for path in ("/", "/readyz", "/v1/pets", "/dashboard", "/docs"):
        command = ["curl --silent --include", *options, f"{API}{path}"]
        head, _, body = host.run(" ".join(command)).partition("\n\n")
        assert " 503" in head.splitlines()[0]
        assert "content-type: application/json" in head.lower()
        assert json.loads(body)["code"] == "service_unavailable"


def test_stranger_restores_sqlite_and_caddy_answers_json_without_the_service():
    with empty_host() as host:
        for step in (INSTALL, SET, START, CADDY, CHECK):
            host.run(step)
        assert " 308" in host.run(f"curl --include {API.replace('https', 'http')}")
        host.run(CUSTOMER.replace(API, DIRECT))
        add(host, "Rex", DIRECT)
        host.run(BACK_UP)
        add(host, "Tom", DIRECT)
        assert read(host, DIRECT) == (["Rex", "Tom"], 4)
        host.run(RESTORE_SQLITE)
        assert read(host, DIRECT) == (["Rex"], 1)
        host.run(OWN_CERTIFICATE)
        host.run("systemctl stop petstore")
        require_json(host, "--insecure")


def test_stranger_upgrades_and_goes_back():
    [tag] = re.findall(r"--branch (v\S+)", INSTALL_RELEASE)
    # What lies here is newer, and so is a database that it makes.
    install = INSTALL.replace("git clone", f"git clone --branch {tag}")
    with empty_host() as host:
        host.run(TAGS.format(ROOT, tag, commit_of(tag.removeprefix("v"))))
        for step in (install, SET, START, CHECK):
            host.run(step)
        host.run(CUSTOMER.replace(API, DIRECT))
        host.run(INSTALL_RELEASE)
        places = []
        for number, switch in enumerate((SWITCH, GO_BACK, SWITCH)):
            host.run(switch)
            add(host, f"Rex {number}", DIRECT)
            places.append(host.run("readlink /proc/$(cat /run/petstore.main)/cwd"))
        released, before = (
            re.search(r"ln -sfn (\S+)", x)[1] for x in (SWITCH, GO_BACK)
        )
        assert " ".join(places).split() == [released, before, released]
        assert read(host, DIRECT)[0] == ["Rex 0", "Rex 1", "Rex 2"]
        assert "database  ok" in host.run("petstore check")


def test_documentation_prints_no_other_configuration_of_nginx():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        assert "proxy_pass" not in page.read_text(), page
