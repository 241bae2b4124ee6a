"""How many requests a client may send, and how many it has sent.

A quota is two fixed windows, a UTC minute and a UTC day, that hold at the same time.
Plans are written in the notation of the limits library and parsed by it, once. Counting
is ours: a hit counts in both windows in one atomic step, by the clock of the store. The
strategies of limits hit one window after the other, so a request that the day refuses
has already spent the minute; they count refused requests like served ones, and their
fixed windows begin with the first hit and not with the UTC minute.
"""
