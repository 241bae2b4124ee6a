"""Where requests are counted: in Redis, in the database, or in this process."""

# A refusal counts towards a ban if the key's previous refusal is at least this old.
STRIKE_PAUSE_MS = 1000
