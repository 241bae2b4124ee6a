"""Time limits of the service that are long enough for a busy machine.

All tests have them, in this process and in the services that they start: a slow store
must not be taken for an unavailable one. A test of a time limit sets its own.
"""

from dataclasses import fields, replace

from petstore import timeouts

SECONDS = 20.0
DAY = 86_400.0
OF_STATEMENTS = (
    *("lock_seconds", "server_statement_seconds", "idle_transaction_seconds"),
    *("statement_seconds", "replay_lock_seconds"),
)
LONGER = (
    *("turn", "request", "redis", "hit", "lock", "server_statement", "busy", "queue"),
    *("idle_transaction", "statement", "connect", "dns", "dns_server"),
)
THERE = {each.name for each in fields(timeouts.Limits)}  # an extension may be deleted
NOTED = THERE & {"failed_seconds", "usage_seconds", "seen_seconds"}
EACH = {
    "stores_seconds": 3 * SECONDS,
    "written_seconds": 1.0,  # a test waits for it
    "outdated_seconds": DAY,
    "recheck_seconds": DAY,
    **{f"{name}_seconds": SECONDS for name in LONGER},
    **dict.fromkeys(NOTED, DAY),  # a test writes what was noted itself
}
PATIENT = replace(timeouts.LIMITS, **{name: EACH[name] for name in THERE & {*EACH}})
# What requests note is written soon, as in production.
NOTING = replace(PATIENT, **{name: getattr(timeouts.Limits(), name) for name in NOTED})


def be_patient() -> None:
    """Apply the limits to this process."""
    timeouts.LIMITS = PATIENT
