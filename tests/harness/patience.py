"""Time limits of the service that are long enough for a busy machine.

All tests have them, in this process and in the services that they start: a slow store
must not be taken for an unavailable one. A test of a time limit sets its own.
"""

from dataclasses import replace

from petstore import timeouts

SECONDS = 20.0
DAY = 86_400.0
PATIENT = replace(
    timeouts.LIMITS,
    turn_seconds=SECONDS,
    request_seconds=SECONDS,
    redis_seconds=SECONDS,
    hit_seconds=SECONDS,
    lock_seconds=SECONDS,
    server_statement_seconds=SECONDS,
    idle_transaction_seconds=SECONDS,
    statement_seconds=SECONDS,
    stores_seconds=3 * SECONDS,
    connect_seconds=SECONDS,
    queue_seconds=SECONDS,
    written_seconds=1.0,  # a test waits for it
    busy_seconds=SECONDS,
    failed_seconds=DAY,  # a test writes what was noted itself
    usage_seconds=DAY,
    seen_seconds=DAY,
    tidy_seconds=DAY,
    dns_seconds=SECONDS,
    dns_server_seconds=SECONDS,
    recheck_seconds=DAY,
)
# What requests note is written soon, as in production.
NOTING = replace(
    PATIENT,
    failed_seconds=timeouts.Limits().failed_seconds,
    usage_seconds=timeouts.Limits().usage_seconds,
    seen_seconds=timeouts.Limits().seen_seconds,
)


def be_patient() -> None:
    """Apply the limits to this process."""
    timeouts.LIMITS = PATIENT
