-- Counts a request in the minute and in the day of its subject, or in neither.
--
-- KEYS[1]  '<subject>:<day>', the day by the clock of the caller
-- ARGV     none to read without counting, else
--          end of the key's ban in ms since 1970, or 0
--          number of days for which the figures of the day are kept after it
--          id of the API key whose refusals lead to a ban, or ''
--          pause in ms after which the next refusal of the key counts
--          limits of a minute and of a day; none to grant every request
-- Returns  1 if the request is granted, else 0; the requests served in the minute and in
--          the day; the time in ms; the refusals that count towards a ban, or 0 if this
--          request is not one of them
--
-- All keys share the hash tag of the subject, so they are in one slot of a cluster.

local MS_PER_MINUTE, MS_PER_DAY = 60000, 86400000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local subject = string.match(KEYS[1], '^(.*):')
local day_key = subject .. ':' .. math.floor(now / MS_PER_DAY)
local seen = redis.call('HMGET', day_key, 'minute', 'minute_served', 'served')
local served = tonumber(seen[3]) or 0
local minute, counted_at = math.floor(now / MS_PER_MINUTE), now
if tonumber(seen[1]) == minute + 1 then
  -- The clock was set back. Count in the later minute, so that none is counted twice.
  minute = minute + 1
  counted_at = minute * MS_PER_MINUTE
end
local minute_served = tonumber(seen[1]) == minute and tonumber(seen[2]) or 0

if #ARGV == 0 then
  return {0, minute_served, served, counted_at, 0}
end

local banned_until, kept_ms = tonumber(ARGV[1]), (ARGV[2] + 1) * MS_PER_DAY
local key, strike_pause = ARGV[3], tonumber(ARGV[4])
local per_minute = tonumber(ARGV[5] or math.huge)
local per_day = tonumber(ARGV[6] or math.huge)

if served == 0 then
  redis.call('HSET', day_key, 'served', 0)
  redis.call('PEXPIRE', day_key, kept_ms)
end
if now >= banned_until and minute_served < per_minute and served < per_day then
  redis.call('HSET', day_key,
    'minute', minute, 'minute_served', minute_served + 1, 'served', served + 1)
  return {1, minute_served + 1, served + 1, counted_at, 0}
end
redis.call('HINCRBY', day_key, 'refused', 1)
if key == '' then
  return {0, minute_served, served, counted_at, 0}
end

local strikes_key = subject .. ':key:' .. key
local last = redis.call('HMGET', strikes_key, 'minute', 'strikes', 'refused_ms')
local strikes = tonumber(last[1]) == minute and tonumber(last[2]) or 0
local counts = now >= banned_until
  and last[3] and now - tonumber(last[3]) >= strike_pause
if counts then strikes = strikes + 1 end
redis.call('HSET', strikes_key, 'minute', minute, 'strikes', strikes, 'refused_ms', now)
redis.call('PEXPIRE', strikes_key, kept_ms)
return {0, minute_served, served, counted_at, counts and strikes or 0}
