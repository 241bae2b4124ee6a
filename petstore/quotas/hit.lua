-- Counts a request in all its windows, or in none.
--
-- KEYS     of each window; then of the refusals of an API key, if they may lead to a ban.
--          All share a hash tag, so they are in one slot of a cluster.
-- ARGV     how many times it counts, 0 to look; end of a ban in ms since 1970, or 0;
--          for each window: its seconds, its limit
-- Returns  whether the request is granted; the time in ms; the refusals that count
--          towards a ban, 0 if this is none of them; for each window: how much of it is
--          used, when it ends
--
-- A window is a number that expires when the UTC minute, hour or day ends.

local amount, banned_until = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local granted, windows, reply = now >= banned_until, {}, {0, now, 0}
for i = 1, (#ARGV - 2) / 2 do
  local key, ms = KEYS[i], ARGV[2 * i + 1] * 1000
  local used, left = redis.call('GET', key), redis.call('PTTL', key)
  -- Where the clock was set back into the previous window, the later one counts, so that
  -- none counts twice.
  local is_new = not used or left <= 0 or left > 2 * ms
  if is_new then used, left = 0, ms - now % ms end
  -- PTTL may have read the clock a moment later.
  reply[2 * i + 2], reply[2 * i + 3] = used + 0, math.floor((now + left) / ms + 0.5) * ms
  granted = granted and used + amount <= tonumber(ARGV[2 * i + 2])
  windows[i] = is_new
end
if amount == 0 then return reply end

if granted then
  reply[1] = 1
  for i, is_new in ipairs(windows) do
    reply[2 * i + 2] = reply[2 * i + 2] + amount
    if is_new then
      redis.call('SET', KEYS[i], amount, 'PX', reply[2 * i + 3] - now)
    else
      redis.call('INCRBY', KEYS[i], amount)
    end
  end
elseif #KEYS > #windows then
  local key, minute = KEYS[#KEYS], math.floor(now / 60000)
  local last = redis.call('HMGET', key, 'minute', 'strikes', 'refused_ms')
  local strikes = tonumber(last[1]) == minute and tonumber(last[2]) or 0
  -- One counts that comes a second or more after the previous one.
  if now >= banned_until and last[3] and now - tonumber(last[3]) >= 1000 then
    strikes = strikes + 1
    reply[3] = strikes
  end
  redis.call('HSET', key, 'minute', minute, 'strikes', strikes, 'refused_ms', now)
  redis.call('PEXPIRE', key, 120000)
end
return reply
