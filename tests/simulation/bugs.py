"""Bugs that are planted to see whether the rules find them."""

from typing import NamedTuple


class Bug(NamedTuple):
    """A change of the source, and the rule that it breaks."""

    name: str
    module: str
    old: str
    new: str
    rule: str  # how its line begins, or several of which one must be broken


GROUP_COMMIT = "petstore.storage.engines.group_commit"
IDEMPOTENCY = "petstore.api.idempotency"
CONNECTION = "petstore.server.connection"
FALLBACK = "petstore.quotas.fallback"

SQLITE = "petstore.storage.engines.sqlite"
POOL = "petstore.storage.engines.pool"
REDIS = "petstore.quotas.stores.redis_connection"
IN_TIME = "answers come in time"

BUGS = (
    Bug(
        "a failed COMMIT is taken for a success",
        GROUP_COMMIT,
        "failure = await_result(self.outcome)\n        if failure:",
        "failure = await_result(self.outcome)\n        if False:",
        "acknowledged writes are there once",
    ),
    Bug(
        "a write is acknowledged before its COMMIT",
        GROUP_COMMIT,
        "        self._wait()\n\n    def rollback",
        "\n    def rollback",
        "acknowledged writes are there once",
    ),
    Bug(
        "a rollback undoes what others have written",
        GROUP_COMMIT,
        'self.connection.execute("ROLLBACK TO request")',
        'self.connection.execute("ROLLBACK")',
        "failures have a reason",
    ),
    Bug(
        "nobody is woken after a failed COMMIT",
        GROUP_COMMIT,
        "            self._on_end()\n",
        "            if not failure:\n                self._on_end()\n",
        IN_TIME,
    ),
    Bug(
        "who waits for a COMMIT is never woken",
        GROUP_COMMIT,
        "        self._queue.serve_all(False)\n",
        "",
        IN_TIME,
    ),
    Bug(
        "what SQLite has rolled back by itself goes on",
        SQLITE,
        "            transaction.fail(error)\n"
        "            self._state.conn = EndedTransaction(error)\n",
        "            pass\n",
        "no traceback",
    ),
    Bug(
        "a response is stored beside the transaction",
        IDEMPOTENCY,
        "            StoredResponse.keep(\n",
        "        if True:\n            StoredResponse.keep(\n",
        "nothing is there twice",
    ),
    Bug(
        "the body of a replayed request is not compared",
        IDEMPOTENCY,
        "if bytes(stored.fingerprint) != attempt.fingerprint:",
        "if False:",
        "a key stands for one request",
    ),
    Bug(
        "a hit waits for Redis without limit",
        REDIS,
        "if (self._checks - began) * limits.check_seconds >= limits.hit_seconds:",
        "if False:",
        IN_TIME,
    ),
    Bug(
        "a lost Redis is never used again",
        FALLBACK,
        "start_in_background(self._probe_until_up, subject)",
        "pass",
        "everything is served again",
    ),
    Bug(
        "each byte renews the deadline",
        CONNECTION,
        "        if not self._reader.kept_bytes:\n",
        "        if True:\n",
        "half requests are closed",
    ),
    Bug(
        "a half request has no deadline",
        CONNECTION,
        "            self._enter(State.READING, timeouts.LIMITS.request_seconds)\n"
        "        try:",
        "            self._enter(State.READING, None)\n        try:",
        "half requests are closed",
    ),
    Bug(
        "a client that half-closes gets no response",
        CONNECTION,
        "        self._has_eof = True\n        self._abandon_task_soon()",
        "        self._has_eof = True\n        self.abort()",
        "nobody starves",
    ),
    Bug(
        "served requests are not counted",
        "petstore.quotas.stores.redis",
        '(_FOLDER / "count.lua").read_text()',
        '(_FOLDER / "count.lua").read_text().replace("minute_served + 1,", "1,")',
        "quotas are exact",
    ),
    Bug(
        "each worker grants the whole limit during an outage",
        "petstore.quotas.stores.memory",
        "limit // self._workers",
        "limit",
        "no more is served than the limits",
    ),
    Bug(
        "a revoked key works on",
        "petstore.models.keys",
        "return cls.revoked_ms.is_null() & (cls._ends() > now)",
        "return cls._ends() > 0",
        "a revoked key never works again",
    ),
    Bug(
        "an animal is ordered whatever its status",
        "petstore.models.pets",
        '            PetTable.status == "available",\n',
        "",
        "an animal has one order",
    ),
    Bug(
        "a graceful stop closes connections at once",
        "petstore.server.worker",
        "            connection.close_soon_if_idle()\n",
        "            connection.abort()\n",
        "nobody starves",
    ),
    Bug(
        "a page begins one animal too late",
        "petstore.storage.paging",
        'key > slot("after")',
        'key > slot("after") + 1',
        "a page never misses an animal",
    ),
    Bug(
        "a connection is lent although its statement has not ended",
        "petstore.storage.engines.connection",
        "            self.is_uncertain\n            or ",
        "            ",
        "the pool",
    ),
    Bug(
        "what a broken connection had written counts as lent for ever",
        POOL,
        "        self._writers.pop(connection, None)\n",
        "        if connection.is_idle:\n"
        "            self._writers.pop(connection, None)\n",
        "the pool",
    ),
    Bug(
        "who waits for a connection is not served by the next one",
        POOL,
        "        if self._queue:\n            self._serve()\n\n    async def close",
        "\n    async def close",
        "the pool",
    ),
    Bug(
        "nobody connects after a failure",
        POOL,
        "        finally:\n            self._is_connecting = False\n",
        "        self._is_connecting = False\n",
        "the pool",
    ),
)
