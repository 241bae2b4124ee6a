"""Bugs that are planted to see whether the rules find them."""

from typing import NamedTuple


class Bug(NamedTuple):
    """A change of the source, and the rule that it breaks."""

    name: str
    module: str
    old: str
    new: str
    rule: str  # how its line begins


GROUP_COMMIT = "petstore.storage.engines.group_commit"
IDEMPOTENCY = "petstore.api.idempotency"
CONNECTION = "petstore.server.connection"
FALLBACK = "petstore.quotas.fallback"

SQLITE = "petstore.storage.engines.sqlite"
POOL = "petstore.storage.engines.pool"
REDIS = "petstore.quotas.stores.redis_connection"
WORKER = "petstore.server.worker"

COUNT_LUA = '(_FOLDER / "count.lua").read_text()'
IN_TIME = "answers come in time"
ONE_REQUEST = "a key stands for one request"
NOT_TWICE = "nothing is counted twice"
LEFT_OVER = "nothing is left over"
SERVED_AGAIN = "everything is served again"
ANSWERS = "answers are those of the operation"
BAN = "a ban ends in time"
REVOKED = "a revoked key never works again"
ROLES = "a key does what its role allows"
KEY_LIMITS = "limits of a key are exact"
SESSIONS = "a session that has ended opens nothing"

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
        ONE_REQUEST,
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
        SERVED_AGAIN,
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
        COUNT_LUA,
        COUNT_LUA + '.replace("minute_served + 1,", "1,")',
        "quotas are exact",
    ),
    Bug(
        "each worker grants the whole limit during an outage",
        "petstore.quotas.stores.memory",
        "limit // self._workers",
        "limit",
        "a worker grants its share",
    ),
    Bug(
        "a revoked key works on",
        "petstore.models.keys",
        "return cls.revoked_ms.is_null() & (cls._ends() > now)",
        "return cls._ends() > 0",
        REVOKED,
    ),
    Bug(
        "an animal is ordered whatever its status",
        "petstore.models.pets",
        '            PetTable.status == "available",\n',
        "",
        "an animal has one order",
    ),
    Bug(
        "an animal is withdrawn whatever its status",
        "petstore.models.pets",
        '.where(_BY_ID, PetTable.status == "available")',
        ".where(_BY_ID)",
        "an animal has one order",
    ),
    Bug(
        "an animal is not withdrawn",
        "petstore.models.pets",
        "if not _delete_if_available(project=project_id, id=pet_id):",
        "if False:",
        "a withdrawn animal is gone",
    ),
    Bug(
        "a correction is not written",
        "petstore.models.pets",
        "in _correct(project=project_id, id=pet_id, **changes):",
        "in _select_one(project=project_id, id=pet_id):",
        "a correction is there",
    ),
    Bug(
        "a page has animals of all categories",
        "petstore.models.pets",
        "_PAGES[category_id is not None, status is not None]",
        "_PAGES[False, status is not None]",
        "a page has what its filters name",
    ),
    Bug(
        "the reference of an order is not kept",
        "petstore.models.orders",
        '"reference": reference,',
        '"reference": None,',
        "acknowledged writes are there once",
    ),
    Bug(
        "a graceful stop closes connections at once",
        WORKER,
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
    Bug(
        "a request has no savepoint of its own",
        GROUP_COMMIT,
        "        if self._has_writes:\n"
        '            self.connection.execute("SAVEPOINT request")\n',
        "",
        "no traceback",
    ),
    Bug(
        "a transaction without writes stays open",
        GROUP_COMMIT,
        "        else:\n            self._end(None)\n",
        "",
        "failures have a reason",
    ),
    Bug(
        "a failed BEGIN keeps all others from beginning",
        GROUP_COMMIT,
        "        except BaseException:\n            self._is_beginning = False\n",
        "        except BaseException:\n",
        SERVED_AGAIN,
    ),
    Bug(
        "a retry is carried out again",
        IDEMPOTENCY,
        "            if stored := StoredResponse.find_locked(attempt):\n",
        "            if (stored := StoredResponse.find_locked(attempt)) is False:\n",
        "nothing is there twice",
    ),
    Bug(
        "a response is kept for a second",
        "petstore.models.stored_responses",
        "KEPT_MS = clock.MS_PER_DAY",
        "KEPT_MS = clock.MS_PER_SECOND",
        "nothing is there twice",
    ),
    Bug(
        "a replay has another body",
        IDEMPOTENCY,
        "response.get_data(),",
        "b'{\"id\": 1}',",
        ONE_REQUEST,
    ),
    Bug(
        "a refusal by the rules is not stored",
        IDEMPOTENCY,
        "        return answer_rule_error(conflict)\n",
        "        raise conflict\n",
        ONE_REQUEST,
    ),
    Bug(
        "a reply of Redis is given to the request that was sent last",
        REDIS,
        "waiting, _ = self._waiting.popleft()",
        "waiting, _ = self._waiting.pop()",
        "no traceback",
    ),
    Bug(
        "an error of Redis is taken for a reply",
        REDIS,
        "                if isinstance(reply, ResponseError):\n",
        "                if False:\n",
        "no traceback",
    ),
    Bug(
        "a request that waits for Redis is not told that it has gone",
        REDIS,
        "                reply.set_exception(reason)\n",
        "                pass\n",
        "nobody starves",
    ),
    Bug(
        "how long a hit waits is checked only once",
        REDIS,
        "            else:\n                self._check_later()\n",
        "",
        IN_TIME,
    ),
    Bug(
        "a request that is counted in a file is counted in no minute",
        "petstore.quotas.stores.database",
        "            Usage.minute_served: minute_served + _one_if(is_granted),\n",
        "            Usage.minute_served: minute_served,\n",
        "quotas are exact",
    ),
    Bug(
        "a request is counted twice",
        "petstore.quotas.stores.redis",
        COUNT_LUA,
        COUNT_LUA + '.replace("served + 1)", "served + 2)")',
        NOT_TWICE,
    ),
    Bug(
        "a refused request takes from the day in Redis",
        "petstore.quotas.stores.redis",
        COUNT_LUA,
        COUNT_LUA + """.replace("'refused', 1", "'served', 1")""",
        NOT_TWICE,
    ),
    Bug(
        "a refused request takes from the day in a file",
        "petstore.quotas.stores.database",
        "            Usage.served: Usage.served + _one_if(is_granted),\n",
        "            Usage.served: Usage.served + 1,\n",
        NOT_TWICE,
    ),
    Bug(
        "the bytes of a connection that has ended are counted for ever",
        WORKER,
        "        self.memory.forget(connection)\n",
        "",
        LEFT_OVER,
    ),
    Bug(
        "a connection that has ended is not forgotten",
        WORKER,
        "        del self._connections[connection]\n",
        "",
        LEFT_OVER,
    ),
    Bug(
        "deadlines are checked only once",
        WORKER,
        "        self._loop.call_later(seconds, self._tick, now + seconds)\n",
        "",
        "half requests are closed",
    ),
    Bug(
        "a graceful stop waits for no request",
        WORKER,
        "if self.is_stopping and not self._connections and not self._accepting:",
        "if self.is_stopping:",
        "nobody starves",
    ),
    Bug(
        "a dropped connection keeps its place",
        POOL,
        "        self._connections.pop(connection).cancel()\n",
        "        self._connections[connection].cancel()\n",
        "the pool: everything is served again",
    ),
    Bug(
        "a connection is lent to two requests",
        POOL,
        "            self._idle.pop()\n        if self._queue:\n",
        "        if self._queue:\n",
        "the pool: one request at a time",
    ),
    Bug(
        "a request in a batch is not told that it has failed",
        "petstore.storage.engines.batches",
        "            for _, place in batch:\n"
        "                place.set_exception(error)\n",
        "            pass\n",
        "the pool: answers come in time",
    ),
    Bug(
        "a COMMIT without an answer counts as done",
        "petstore.storage.engines.postgresql",
        '        await connection.run("COMMIT", seconds=seconds)\n',
        "        with suppress(peewee.PeeweeException):\n"
        '            await connection.run("COMMIT", seconds=seconds)\n',
        "the pool: acknowledged writes are there once",
    ),
    Bug(
        "a row is inserted again when its connection is lost",
        "petstore.storage.engines.batches",
        "            [row_id] = await self._run(kind, lambda: [values], deadline)\n",
        "            run = lambda: self._run(kind, lambda: [values], deadline)\n"
        "            try:\n"
        "                [row_id] = await run()\n"
        "            except Exception:\n"
        "                [row_id] = await run()\n",
        "the pool: nothing is there twice",
    ),
    Bug(
        "a key is looked up only once",
        "petstore.models.callers",
        "        rows = _select_by_prefix(prefix=prefix, now_ms=clock.now_ms())\n",
        "        known = cls.by_prefix.__func__.__dict__\n"
        "        rows = list(_select_by_prefix(prefix=prefix, now_ms=clock.now_ms()))\n"
        "        rows = known.setdefault(prefix, rows)\n",
        REVOKED,
    ),
    Bug(
        "a rotated key works on",
        "petstore.models.keys",
        "revoked_ms = None if grace_seconds else now",
        "revoked_ms, retires_ms = None, retires_ms + clock.MS_PER_DAY",
        REVOKED,
    ),
    Bug(
        "a key that is rotated has no grace",
        "petstore.models.keys",
        "revoked_ms = None if grace_seconds else now",
        "revoked_ms = now",
        ANSWERS,
    ),
    Bug(
        "the keys of a project with limits of their own share a counter",
        "petstore.quotas.limiter",
        "key_subject(caller.key_id), caller.key_quota",
        "key_subject(caller.project_id), caller.key_quota",
        "refusals have a reason",
    ),
    Bug(
        "a key that is banned is served",
        "petstore.quotas.limiter",
        "subject, quota = project_subject(caller.project_id), caller.quota\n"
        "    banned_until_ms = caller.banned_until_ms or 0\n",
        "subject, quota = project_subject(caller.project_id), caller.quota\n"
        "    banned_until_ms = 0\n",
        BAN,
    ),
    Bug(
        "a ban goes on after its time",
        "petstore.models.keys",
        "cls.update(banned_until_ms=until_ms)",
        "cls.update(banned_until_ms=until_ms + clock.MS_PER_DAY)",
        BAN,
    ),
    Bug(
        "a ban cannot be lifted",
        "petstore.models.keys",
        "update = Key.update(banned_until_ms=None)",
        "update = Key.update(banned_until_ms=Key.banned_until_ms)",
        BAN,
    ),
    Bug(
        "the secret of a key is not compared",
        "petstore.models.callers",
        "hmac.compare_digest(bytes(caller.digest), digest_of(key))",
        "True",
        ANSWERS,
    ),
    Bug(
        "the role of a key is not checked",
        "petstore.api.auth",
        "        _require_role(request, caller)\n",
        "",
        ROLES,
    ),
    Bug(
        "the successor of a key may do everything",
        "petstore.models.keys",
        "                role=old.role,\n",
        "",
        ROLES,
    ),
    Bug(
        "the successor of a key has no limits",
        "petstore.models.keys",
        "                per_minute=old.per_minute,\n"
        "                per_day=old.per_day,\n",
        "",
        KEY_LIMITS,
    ),
    Bug(
        "the requests of a key with limits are not counted for it",
        "petstore.quotas.limiter",
        "has_limits = caller.key_per_minute is not None",
        "has_limits = False",
        KEY_LIMITS,
    ),
    Bug(
        "what the limits of a key refuse is served by its project",
        "petstore.quotas.limiter",
        "is_refused=not key.is_granted",
        "is_refused=False",
        KEY_LIMITS,
    ),
    Bug(
        "signing out ends no session",
        "petstore.dashboard.sessions",
        "        Session.end(session[TOKEN])\n",
        "        pass\n",
        SESSIONS,
    ),
    Bug(
        "a session lasts for ever",
        "petstore.models.sessions",
        '.where(Session.digest == slot("digest"), Session.ends_ms > db.now_ms)\n'
        "    )\n"
        "\n"
        "\n"
        "@statement(db)\n"
        "def _see",
        '.where(Session.digest == slot("digest"))\n    )\n\n\n@statement(db)\ndef _see',
        SESSIONS,
    ),
    Bug(
        "a session outlives its key",
        "petstore.models.sessions",
        "        callers()\n        .select_extend",
        "        callers()\n        .orwhere(True)\n        .select_extend",
        SESSIONS,
    ),
    Bug(
        "ending the other sessions ends none",
        "petstore.models.sessions",
        "        while _end_some(caller.project_id, few):\n            pass\n",
        "",
        SESSIONS,
    ),
    Bug(
        "a form of another site is accepted",
        "petstore.dashboard.forms",
        "        validate_csrf(request.form.get(CSRF_TOKEN))\n",
        "        pass\n",
        ANSWERS,
    ),
    Bug(
        "pages do not check the role of a key",
        "petstore.dashboard.sessions",
        "        roles.require(current_request().state.required_caller.role, takes)\n",
        "",
        ROLES,
    ),
)
