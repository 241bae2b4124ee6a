"""Every time limit and size, in one object that checks their order."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long and how much."""

    # Requests of one caller (an address or a key) in a worker.
    running_requests: int = 7  # at once; fewer than half of the connections
    # While so many requests of all callers run, one caller may only run a few.
    crowded_requests: int = 16
    few_requests: int = 4
    waiting_requests: int = 300  # for their turn
    turn_seconds: float = 1.0  # for all turns of one request together

    # A connection of a client, in seconds.
    request_seconds: float = 10.0  # to receive a whole request
    send_seconds: float = 30.0  # for the client to read a whole response
    linger_seconds: float = 2.0  # for the client to close its end of a connection

    # A connection of a client, in bytes and pieces.
    read_bytes: int = 16 * 1024  # at a time
    head_bytes: int = 16 * 1024
    headers: int = 100
    header_parts: int = 200  # of one header, since each is parsed in Python
    blank_lines: int = 4  # before a request

    # A worker.
    tick_seconds: float = 0.5  # between two signs of life
    notice_seconds: float = 0.3  # for requests on their way to a worker that stops
    accept_pause_seconds: float = 0.05  # when a connection cannot be accepted
    spare_descriptors: int = 96  # for files and for connections to the stores
    log_lines: int = 5_000  # that wait to be written to stdout, or to stderr
    log_pause_seconds: float = 0.05  # between two looks for lines to write
    log_seconds: float = 0.5  # to write the last of them when a process ends

    # Counting a request.
    # Each step of a connection to Redis. Connecting and a reply may take twice as long,
    # because this process itself may be late.
    redis_seconds: float = 0.08
    hit_seconds: float = 0.22  # all steps together
    redis_connections: int = 32  # of a worker
    # Redis may have closed a connection that was idle for so long, so it is looked at
    # before it is used. To look at every one would cost a tenth of a request.
    redis_idle_seconds: float = 5.0

    # An outage of the counter storage.
    retry_store_seconds: float = 0.5  # between two requests that try it
    # A worker counts in so many windows in memory, and then forgets all of them:
    # strangers may have many addresses, and limits often looks through all windows.
    outage_windows: int = 20_000

    # How long a request waits for all stores together, from its beginning. Redis may be
    # the last store, so with `hit_seconds` this must be less than 2.5 s.
    stores_seconds: float = 2.2

    # A statement on PostgreSQL. The server gives up before the client does, so that it
    # does not carry out a statement after its timeout. If the network fails, the server
    # must neither keep the locks of a lost client nor commit for it.
    lock_seconds: float = 1.5
    replay_lock_seconds: float = 0.7  # for the first request with an Idempotency-Key
    server_statement_seconds: float = 1.8
    idle_transaction_seconds: float = 1.5
    statement_seconds: float = 2.0
    # After so long, a firewall may have forgotten an idle connection. A statement on it
    # has less time, so that it and a new connection together take less than 2.5 s.
    idle_seconds: float = 30.0
    idle_statement_seconds: float = 0.4

    # The pool of a worker's connections to PostgreSQL.
    connections: int = 16
    resolve_seconds: float = 0.5  # for the names in the URL
    connect_seconds: float = 2.0  # for all its hosts, and their addresses, together
    host_seconds: float = 0.5  # for each of them at least
    # The greatest age of a connection: its host may name another server by then.
    connection_seconds: float = 300.0
    unused_seconds: float = 60.0  # until it is closed, for others
    # Between two looks for a free connection, while the server takes no more.
    full_pause_seconds: float = 0.01
    close_seconds: float = 2.0  # to cancel a statement that was given up
    # After a failure of the server, requests are refused at once for this time.
    back_off_seconds: float = 0.25

    # How long a request waits for a connection, or on SQLite for others to commit.
    queue_seconds: float = 1.0

    # Between two writes of /readyz in a worker, because anybody may ask.
    written_seconds: float = 10.0

    # SQLite.
    retry_seconds: float = 0.001  # between two tries on a locked file
    busy_seconds: float = 2.0  # while another process has locked the file
    extended_busy_seconds: float = 30.0  # in commands
    # SQLite moves counters from its log to their file when the log has this many pages
    # (64 MiB). With its default of 1,000, one hit in 170 would wait for the disk.
    counter_pages: int = 16_384

    # Records of requests, which are written in the background.
    usage_seconds: float = 5.0  # after the first use of a key that is not written
    notes: int = 20_000  # of each kind that wait in a process

    outdated_seconds: float = 60.0  # from a request until outdated rows are deleted

    # Deleting many rows. Other requests write between two batches.
    deleted_rows: int = 200  # in one batch
    deletion_pause_seconds: float = 0.02  # about as long as a batch takes on SQLite

    # Of the extension dashboard.
    seen_seconds: float = 0.1  # after the first use of a session that is not written
    # A request waits so long while animals move to another category, which then goes on
    # in the background.
    moving_seconds: float = 1.0

    # Of the extension monitoring.
    failed_seconds: float = 1.0  # after the first failed request that is not written
    failed_per_second: int = 20  # of one project that a process writes
    # Each file of metrics has this size from the beginning: the kernel kills a process
    # that writes to a memory-mapped file for which the disk has no room.
    metrics_bytes: int = 256 * 1024

    # Of the extension sheets. Other requests run between two parts of a file.
    upload_seconds: float = 60.0  # to receive one
    exported_rows: int = 200  # in one part
    export_pause_seconds: float = 0.002  # about as long as a part takes
    imported_rows: int = 400  # in one part, if it is for the database
    part_seconds: float = 0.008  # after which one that is read or computed ends
    import_bytes: int = 5 * 1024 * 1024  # of a file
    import_lines: int = 50_000  # of a file, without the heads and empty ones

    # Of the extension hosting: verifying a domain.
    dns_seconds: float = 5.0  # for all queries of a check
    dns_server_seconds: float = 1.5  # before the next server is asked
    dns_bytes: int = 16 * 1024  # of an answer over TCP
    recheck_seconds: float = 60.0  # between two looks for domains that are due
    rechecked_projects: int = 60  # whose domains a worker begins to check at a look
    handshake_seconds: float = 120.0  # an authority may take two minutes

    def __post_init__(self) -> None:
        """Raise `ValueError` if two limits are in the wrong order."""
        self._check("few_requests", "running_requests", "connections")
        self._check("lock_seconds", "server_statement_seconds")
        self._check("replay_lock_seconds", "lock_seconds")
        self._check("server_statement_seconds", "statement_seconds")
        self._check("idle_transaction_seconds", "statement_seconds")
        self._check("statement_seconds", "stores_seconds")
        self._check("busy_seconds", "stores_seconds")

    def _check(self, *names: str) -> None:
        values = [getattr(self, name) for name in names]
        if values != sorted(values):
            raise ValueError(f"each of these must be at least the one before: {names}")


LIMITS = Limits()  # a test may replace it
