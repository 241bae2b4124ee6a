"""Do once all that a tenant can do; print for each deed what its statements examine.

months.py starts it as a process, because the service that it contains writes its log to
the standard output. The answer is JSON, in the file that is named last.
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from flask import Flask
from werkzeug.test import TestResponse

from petstore import create_app
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.requests import failures, uses
from petstore.quotas import housekeeping
from petstore.settings import read_settings
from petstore.storage import lists
from tests.harness.browser import Browser
from tests.harness.clients import ORDERS, PETS
from tests.harness.costs import Cost, measured

BASE = "localhost"  # the base domain
TOURS = 2  # the first one includes what is done once in a process
COUNTED = 100  # in place of lists.MAX_COUNTED, since every list has more rows
MIDDLE = 500
PET = {"name": "Rex", "categoryId": 1}
CATEGORIES = "/v1/categories"
READS = (
    *(PETS, f"{PETS}?after={MIDDLE}&limit=100", f"{PETS}?status=sold", f"{PETS}/20"),
    *(ORDERS, f"{ORDERS}?after={MIDDLE}&status=placed", f"{ORDERS}/20"),
    *(CATEGORIES, f"{CATEGORIES}?after=50", "/readyz"),
)
PAGES = (
    *("", "/usage.csv", "/animals", "/animals?status=sold", "/animals?last=1"),
    *(f"/animals?after={MIDDLE}&category=2&status=pending", "/animals?name=rex"),
    *("/animals/20", "/orders?name=rex", "/orders?name=%2320"),
    *("/orders", "/orders?status=placed&last=1", "/categories", "/categories?last=1"),
    *("/keys", "/keys?status=ended", "/settings/domains"),
    *("/requests", "/requests?last=1", "/requests?id=filled-1"),
)

Deed = Callable[[], TestResponse | None]


def deeds(app: Flask, key: str, number: int) -> Iterator[tuple[str, Deed]]:
    """Yield each deed of this tour with its name."""
    client, browser = app.test_client(), Browser(app)
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    yield "sign in", partial(browser.sign_in, key)
    for path in READS:
        yield f"GET {path}", partial(client.get, path)
    for path in PAGES:
        yield f"page {path}", partial(browser.get, f"/dashboard{path}")
    add, once = partial(client.post, PETS), {"Idempotency-Key": f"new-{number}"}
    yield "add", partial(add, json=PET)
    yield "add once", partial(add, json=PET, headers=once)
    yield "add again", partial(add, json=PET, headers=once)
    yield "add of a new kind", partial(add, json=PET | {"categoryId": 9999 - number})
    order = client.post(ORDERS, json={"petId": add(json=PET).json["id"]}).json["id"]
    yield "order", partial(client.post, ORDERS, json={"petId": 2 + 2 * number})
    yield (
        "cancel",
        partial(client.patch, f"{ORDERS}/{order}", json={"status": "cancelled"}),
    )
    named = {"name": f"Kind {number}"}
    yield "name a category", partial(client.put, f"{CATEGORIES}/2", json=named)
    fields = {"name": "Rex", "categoryId": "1", "status": "available"}
    yield "form for an animal", partial(browser.submit, "/dashboard/animals", **fields)
    yield "form for a key", partial(browser.submit, "/dashboard/keys", label="New")
    page = f"/dashboard/keys/{Key.issue(Project.by_slug('shelter'))[:16]}"
    yield "page of a key", partial(browser.get, page)
    for form in ("rotate", "revoke"):
        submit = partial(browser.submit, f"{page}/{form}")
        yield f"{form} a key", partial(submit, grace="3600")
    domains = "/dashboard/settings/domains"
    name = f"shop-{number}.example.org"
    yield "form for a domain", partial(browser.submit, domains, name=name)
    host = {"base_url": "http://filled-3.example.org"}
    yield "GET at a domain", partial(client.get, PETS, **host)
    stranger = {"environ_base": {"REMOTE_ADDR": f"192.0.2.{number}"}}
    yield "GET of a stranger", partial(app.test_client().get, PETS, **stranger)
    yield "sign out", partial(browser.submit, "/dashboard/sign-out")
    yield "notes of used keys", uses.flush
    client.get(f"{PETS}/{2**62}")
    yield "a failed request", failures.flush
    yield "outdated rows", housekeeping.tidy
    yield "claim of a due domain", Domain.claim_due


def main(url: str, key: str, answer: str) -> None:
    """Go round, and write down the costs of the last tour."""
    settings = {"DATABASE_URL": url, "WEB_CONCURRENCY": "1"}
    settings |= {"PETSTORE_BASE_DOMAIN": BASE, "PETSTORE_DNS_SERVERS": "127.0.0.1:9"}
    app = create_app(read_settings(settings))
    costs: dict[str, list[Cost]] = {}
    with patch.object(lists, "MAX_COUNTED", COUNTED):
        for number in range(TOURS):
            for name, deed in deeds(app, key, number):
                with measured() as costs[name]:
                    answered = deed()
                status = getattr(answered, "status_code", 200)
                assert status < 400 or "stranger" in name, (name, status)
    Path(answer).write_text(json.dumps(costs))


if __name__ == "__main__":
    main(*sys.argv[1:])
