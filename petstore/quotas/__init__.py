"""How many requests a client may send, and how many it has sent.

A quota is two fixed windows, a UTC minute and a UTC day, that hold at the same time.
Each limit is a `RateLimitItem` of limits. `limiter` says which limits a request has,
`strategy` decides on all of them together, and a storage counts.
"""
