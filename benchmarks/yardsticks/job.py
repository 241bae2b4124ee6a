"""The service's job by hand, for any framework: key, both windows, query, JSON.

No schemas, no ORM, no layers, no metrics, no logs. It uses the database and the Redis
server of the service, so that both are measured on the same data. It runs in greenlets
and in threads; a request takes a connection from a list, and puts it back.
"""

import hashlib
import hmac
import os
import sqlite3
import time

import orjson
import psycopg
import redis

URL = os.environ["DATABASE_URL"]
REDIS_URL = os.environ.get("REDIS_URL")
IS_SQLITE = URL.startswith("sqlite")
PLANS = {"free": (60, 1000), "pro": (300, 10_000), "business": (1000, 100_000)}
STATUSES = ("available", "pending", "sold")
PARAM = "?" if IS_SQLITE else "%s"

CALLER = (
    "SELECT k.digest, k.expires_ms, k.retires_ms, k.revoked_ms, p.id, p.plan,"
    " p.per_minute, p.per_day FROM api_key k JOIN project p ON p.id = k.project_id"
    f" WHERE k.prefix = {PARAM}"
)
LIST = (
    "SELECT id, name, category_id, status FROM pet"
    f" WHERE project_id = {PARAM} AND id > {PARAM} ORDER BY id LIMIT {PARAM}"
)
LIST_BY_STATUS = LIST.replace(" AND id", f" AND status = {PARAM} AND id")
ONE = (
    "SELECT id, name, category_id, status FROM pet"
    f" WHERE project_id = {PARAM} AND id = {PARAM}"
)
CATEGORY = (
    "INSERT INTO category (project_id, id)"
    f" VALUES ({PARAM}, {PARAM}) ON CONFLICT DO NOTHING"
)
INSERT = (
    "INSERT INTO pet (project_id, name, category_id, status)"
    f" VALUES ({PARAM}, {PARAM}, {PARAM}, {PARAM}) RETURNING id"
)
COUNTS = (
    "CREATE TABLE IF NOT EXISTS baseline_usage (subject TEXT PRIMARY KEY,"
    " minute INTEGER, minute_hits INTEGER, day INTEGER, day_hits INTEGER)"
)
TAKE_SQL = f"""
INSERT INTO baseline_usage AS u VALUES ({PARAM}, {PARAM}, 1, {PARAM}, 1)
ON CONFLICT (subject) DO UPDATE SET
 minute_hits = CASE WHEN u.minute = excluded.minute THEN u.minute_hits ELSE 0 END + 1,
 day_hits = CASE WHEN u.day = excluded.day THEN u.day_hits ELSE 0 END + 1,
 minute = excluded.minute, day = excluded.day
WHERE (u.minute <> excluded.minute OR u.minute_hits < {PARAM})
  AND (u.day <> excluded.day OR u.day_hits < {PARAM})
RETURNING minute_hits, day_hits"""
TAKE_LUA = """
local m = tonumber(redis.call('GET', KEYS[1]) or 0)
local d = tonumber(redis.call('GET', KEYS[2]) or 0)
if m >= tonumber(ARGV[1]) or d >= tonumber(ARGV[2]) then return {0, m, d} end
m = redis.call('INCR', KEYS[1]); d = redis.call('INCR', KEYS[2])
if m == 1 then redis.call('EXPIRE', KEYS[1], 60) end
if d == 1 then redis.call('EXPIRE', KEYS[2], 86400) end
return {1, m, d}"""

connections = []  # that no request uses
if REDIS_URL:
    counters = redis.from_url(REDIS_URL)
    take_script = counters.register_script(TAKE_LUA)


def connect():
    """Return a connection to the database, and one to the counters."""
    if not IS_SQLITE:
        database = psycopg.connect(URL, autocommit=True)
        return database, database
    return _open(URL, "full"), _open(f"{URL}.baseline", "normal")


def _open(url, synchronous):
    # A server of threads uses it in one after the other.
    connection = sqlite3.connect(
        url.removeprefix("sqlite:///"),
        isolation_level=None,
        timeout=30,
        check_same_thread=False,
    )
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


if not REDIS_URL:
    _, counts = connect()
    counts.execute(COUNTS)
    counts.close()


def take(counts, project, per_minute, per_day, now):
    minute, day = now // 60, now // 86400
    if REDIS_URL:
        keys = [f"base:{{{project}}}:m{minute}", f"base:{{{project}}}:d{day}"]
        return take_script(keys=keys, args=[per_minute, per_day])
    values = (str(project), minute, day, per_minute, per_day)
    row = counts.execute(TAKE_SQL, values).fetchone()
    return (1, *row) if row else (0, per_minute, per_day)


def error(status, code, message, headers=()):
    body = orjson.dumps({"code": code, "message": message, "status": status})
    return status, dict(headers), body


def answer(operation, authorization, *arguments):
    """Return the status, the headers and the body of the response of an operation."""
    database, counts = taken = connections.pop() if connections else connect()
    response = respond(database, counts, operation, authorization, arguments)
    connections.append(taken)  # none whose request has failed
    return response


def respond(database, counts, operation, authorization, arguments):
    scheme, _, key = authorization.partition(" ")
    row = None
    if scheme.lower() == "bearer":
        row = database.execute(CALLER, (key[:16],)).fetchone()
    now = int(time.time())
    if row is None or not hmac.compare_digest(
        bytes(row[0]), hashlib.sha256(key.encode()).digest()
    ):
        return error(401, "invalid_api_key", "This key is not valid.")
    ends = [end for end in row[1:3] if end is not None]
    if row[3] is not None or any(end <= now * 1000 for end in ends):
        return error(401, "invalid_api_key", "This key is not valid.")
    project, plan = row[4], row[5]
    per_minute, per_day = PLANS.get(plan) or row[6:8]
    granted, minute_hits, day_hits = take(counts, project, per_minute, per_day, now)
    minute_left, day_left = per_minute - minute_hits, per_day - day_hits
    minute_resets, day_resets = 60 - now % 60, 86400 - now % 86400
    if minute_left < day_left:
        limit, left, resets = per_minute, minute_left, minute_resets
    else:
        limit, left, resets = per_day, day_left, day_resets
    quota = {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(left),
        "X-RateLimit-Reset": str(now + resets),
        "RateLimit-Policy": f'"minute";q={per_minute};w=60, "day";q={per_day};w=86400',
        "RateLimit": f'"minute";r={minute_left};t={minute_resets},'
        f' "day";r={day_left};t={day_resets}',
    }
    if not granted:
        quota["Retry-After"] = str(resets)
        return error(429, "rate_limit_exceeded", "Wait.", quota)
    status, headers, body = operation(database, project, *arguments)
    return status, headers | quota, body


def pet(row):
    return {"id": row[0], "name": row[1], "categoryId": row[2], "status": row[3]}


def list_pets(database, project, query, url):
    try:
        limit, after = int(query.get("limit", 20)), int(query.get("after", 0))
    except ValueError:
        return error(400, "invalid_request", "limit and after must be integers")
    status = query.get("status")
    if not 1 <= limit <= 100 or status not in (None, *STATUSES):
        return error(400, "invalid_request", "limit or status is out of range")
    if status is None:
        rows = database.execute(LIST, (project, after, limit + 1)).fetchall()
    else:
        values = (project, status, after, limit + 1)
        rows = database.execute(LIST_BY_STATUS, values).fetchall()
    headers = {}
    if len(rows) > limit:
        rows = rows[:limit]
        headers["Link"] = f'<{url}?limit={limit}&after={rows[-1][0]}>; rel="next"'
    return 200, headers, orjson.dumps([pet(row) for row in rows])


def create_pet(database, project, body):
    try:
        body = orjson.loads(body)
        name, category = body["name"], body["categoryId"]
    except (ValueError, KeyError, TypeError):
        return error(400, "invalid_request", "name and categoryId are needed")
    status = body.get("status", "available")
    if not (isinstance(name, str) and type(category) is int and status in STATUSES):
        return error(400, "invalid_request", "a member has the wrong type")
    database.execute("BEGIN IMMEDIATE" if IS_SQLITE else "BEGIN")
    try:
        database.execute(CATEGORY, (project, category))
        values = (project, name, category, status)
        [pet_id] = database.execute(INSERT, values).fetchone()
        database.execute("COMMIT")
    except Exception:
        database.execute("ROLLBACK")
        raise
    headers = {"Location": f"/v1/pets/{pet_id}"}
    return 201, headers, orjson.dumps(pet((pet_id, name, category, status)))


def get_pet(database, project, pet_id):
    row = database.execute(ONE, (project, pet_id)).fetchone()
    if row is None:
        return error(404, "not_found", "There is no such animal.")
    return 200, {}, orjson.dumps(pet(row))
