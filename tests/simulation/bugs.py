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
        'self.connection.execute("ROLLBACK"); self.connection.execute("BEGIN")',
        "",
    ),
    Bug(
        "a rollback undoes nothing beside others",
        GROUP_COMMIT,
        'self.connection.execute("ROLLBACK TO request")\n',
        "pass\n",
        "",
    ),
    Bug(
        "nobody is woken after a failed COMMIT",
        GROUP_COMMIT,
        "            self.outcome.set_result(failure)\n            self._on_end()",
        "            self.outcome.set_result(failure)\n"
        "            if not failure:\n                self._on_end()",
        "",
    ),
    Bug(
        "the writer is kept after a failure",
        GROUP_COMMIT,
        "            self._writer.close()  # which rolls back what SQLite has not\n",
        "            pass\n",
        "",
    ),
    Bug(
        "a response is stored after the transaction",
        IDEMPOTENCY,
        "            StoredResponse.keep(\n                attempt,",
        "        if True:\n            StoredResponse.keep(\n                attempt,",
        "",
    ),
    Bug(
        "the body of a replayed request is not compared",
        IDEMPOTENCY,
        "if bytes(stored.fingerprint) != attempt.fingerprint:",
        "if False:",
        "a key stands for one request",
    ),
    Bug(
        "the connection to Redis has no time limit",
        "petstore.quotas.stores.redis_connection",
        "if self._checks - began >= timeouts.LIMITS.hit_checks:",
        "if False:",
        "",
    ),
    Bug(
        "a lost Redis is never used again",
        FALLBACK,
        "start_in_background(self._probe_until_up, subject)",
        "pass",
        "everything is served again",
    ),
    Bug(
        "the workers do not share the limits during an outage",
        "petstore.quotas.stores.memory",
        "limit.amount // self._workers",
        "limit.amount",
        "",
    ),
    Bug(
        "a half request has no deadline",
        CONNECTION,
        "self._enter(State.READING, timeouts.LIMITS.request_seconds)\n        try:",
        "self._enter(State.READING, None)\n        try:",
        "",
    ),
    Bug(
        "each byte renews the deadline",
        CONNECTION,
        "if not self._reader.has_begun:\n            self._enter(State.READING, time",
        "if True:\n            self._enter(State.READING, time",
        "",
    ),
    Bug(
        "a client that half-closes gets no response",
        CONNECTION,
        "        self._has_eof = True\n        self._abandon_task_soon()",
        "        self._has_eof = True\n        self.abort()",
        "",
    ),
    Bug(
        "two requests are counted as one",
        "petstore.quotas.stores.database",
        "served = known.served + {_one_if(is_granted)},",
        "served = known.served,",
        "",
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
        "",
    ),
    Bug(
        "a page skips an animal",
        "petstore.storage.paging",
        '> slot("after")',
        '> slot("after") + 1',
        "a page never misses an animal",
    ),
)
