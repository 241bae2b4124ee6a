"""Counters in a Redis Cluster: each subject on one of its nodes."""

import functools
import threading
from collections.abc import Sequence
from contextlib import suppress

import limits.storage
from redis import Redis
from redis.cluster import ClusterNode
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MovedError,
    RedisClusterException,
    RedisError,
    TimeoutError,
)

from petstore.fibers import elsewhere
from petstore.quotas.stores.redis import (
    TIMEOUT_SECONDS,
    RedisCounters,
    credentials,
)
from petstore.quotas.stores.scripts import Script
from petstore.quotas.stores.storage import CounterStorage
from petstore.quotas.windows import Claim

# After these the map of the cluster may be out of date.
UNREACHABLE = (ConnectionError, TimeoutError, ClusterDownError, RedisClusterException)


class RedisClusterStorage(
    RedisCounters, limits.storage.RedisClusterStorage, CounterStorage
):
    """Exact over all hosts: the keys of a subject share a slot, and so a node.

    redis-py knows which node has a slot. It is not asked to run the scripts, since it
    would let a request wait while it looks for nodes that are lost.
    """

    STORAGE_SCHEME = ["petstore+redis+cluster"]
    base_exceptions = (RedisError, RedisClusterException)

    def __init__(self, uri: str) -> None:
        self.storage = None
        self._lock = threading.Lock()
        self._explorer: threading.Thread | None = None
        self._open = functools.partial(
            super().__init__,
            uri,
            require_full_coverage=False,
            dynamic_startup_nodes=False,
            **credentials(uri),
        )
        self._explore()

    def part_of(self, claim: Claim) -> str:
        """The node that counts the claim; none while the cluster is not known."""
        if self.storage is not None:
            with suppress(RedisClusterException):
                return self.storage.get_node_from_key(self._key(claim.subject)).name
        return super().part_of(claim)

    def _run(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        return elsewhere(self._ask, script, key, arguments)

    def _ask(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        if self.storage is None:
            self._explore().join(TIMEOUT_SECONDS)
            if self.storage is None:
                raise ConnectionError("no node of the cluster answers")
        try:
            return self._run_on_node(script, key, arguments)
        except UNREACHABLE:
            self._explore()
            raise

    def _run_on_node(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        try:
            node = self.storage.get_node_from_key(key)
            return script.run(self._server(node), key, arguments)
        except MovedError as moved:
            self.storage.nodes_manager.move_slot(moved)
            self._explore()
            node = self.storage.get_node_from_key(key)
            return script.run(self._server(node), key, arguments)
        except AskError as elsewhere:  # the slot is on its way to another node
            node = ClusterNode(elsewhere.host, elsewhere.port)
            known = self.storage.get_node(node_name=node.name) or node
            asking = self._server(known).pipeline(transaction=False)
            asking.execute_command("ASKING")
            asking.eval(script.text, 1, key, *arguments)
            return asking.execute()[-1]

    def _server(self, node: ClusterNode) -> Redis:
        return self.storage.get_redis_connection(node)

    def _explore(self) -> threading.Thread:
        """Draw the map anew, beside the requests: lost nodes are asked, too."""
        with self._lock:
            if self._explorer is None or not self._explorer.is_alive():
                self._explorer = threading.Thread(target=self._draw_map, daemon=True)
                self._explorer.start()
            return self._explorer

    def _draw_map(self) -> None:
        # Where that fails, the next request that finds a node lost tries again.
        with suppress(*self.base_exceptions):
            if self.storage is None:
                self._open()
            else:
                self.storage.nodes_manager.initialize()
