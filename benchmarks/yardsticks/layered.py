"""The application with the layers after LAYER replaced by constants."""

import os

from petstore import clock, create_app
from petstore.models.callers import Caller
from petstore.models.pets import Pet
from petstore.quotas.decisions import Counts, Decision
from petstore.web.limiter import limiter_of

LAYERS = ("hooks", "key", "quota", "query")
CALLER = Caller(
    key_id=1,
    prefix="pet_000000000000",
    digest=b"",
    last_used_ms=clock.now_ms() + clock.MS_PER_DAY,  # so that no use is recorded
    banned_until_ms=None,
    project_id=1,
    slug="tenant-0",
    plan="business",
    per_minute=None,
    per_day=None,
)
DECISION = Decision.of(CALLER.quota, Counts(True, 1, 1, clock.now_ms()))

app = create_app()
real = LAYERS[: LAYERS.index(os.environ["LAYER"]) + 1]
if "key" not in real:
    Caller.of = lambda key: CALLER
if "quota" not in real:
    limiter_of(app).count = lambda caller, address: DECISION
if "query" not in real:
    Pet.page = lambda *project, **page: []
