-- Counts a request in all windows of its subjects, or in none.
--
-- KEYS     the hash of each subject. All share a hash tag, so they are in one slot of a
--          cluster; so is the hash of an API key's refusals, which is not among them: a
--          slot that migrates serves no script with one key that is there and one that
--          is not.
-- ARGV     how many times it counts, 0 to look; end of a ban in ms since 1970, or 0;
--          API key whose refusals lead to a ban, or ''; pause in ms after which the next
--          refusal counts; for each window: number of its hash, its seconds, its limit
-- Returns  whether the request is granted; the time in ms; the refusals that count
--          towards a ban, 0 if this is none of them; what is used of each window

local cost, banned_until = tonumber(ARGV[1]), tonumber(ARGV[2])
local api_key, pause = ARGV[3], tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local windows, counted_at = {}, now
for i = 5, #ARGV, 3 do
  local name, ms = ARGV[i + 1], ARGV[i + 1] * 1000
  local key = KEYS[tonumber(ARGV[i])]
  local seen = redis.call('HMGET', key, name, name .. ':used')
  local number = tonumber(seen[1])
  if number == math.floor(now / ms) + 1 then
    -- The clock was set back. Count in the later window, so that none counts twice.
    counted_at = math.max(counted_at, number * ms)
  end
  table.insert(windows, {key = key, name = name, ms = ms, number = number,
    used = tonumber(seen[2]), limit = tonumber(ARGV[i + 2])})
end

local granted = now >= banned_until
local reply = {0, counted_at, 0}
for i, window in ipairs(windows) do
  local number = math.floor(counted_at / window.ms)
  if window.number ~= number then window.number, window.used = number, 0 end
  granted = granted and window.used + cost <= window.limit
  reply[3 + i] = window.used
end
if cost == 0 then return reply end

if granted then
  reply[1] = 1
  for i, window in ipairs(windows) do
    reply[3 + i] = window.used + cost
    redis.call('HSET', window.key,
      window.name, window.number, window.name .. ':used', window.used + cost)
    if redis.call('PTTL', window.key) < window.ms then
      redis.call('PEXPIRE', window.key, 2 * window.ms)
    end
  end
elseif api_key ~= '' then
  local key, minute = KEYS[1] .. ':refusals:' .. api_key, math.floor(counted_at / 60000)
  local last = redis.call('HMGET', key, 'minute', 'strikes', 'refused_ms')
  local strikes = tonumber(last[1]) == minute and tonumber(last[2]) or 0
  if now >= banned_until and last[3] and now - tonumber(last[3]) >= pause then
    strikes = strikes + 1
    reply[3] = strikes
  end
  redis.call('HSET', key, 'minute', minute, 'strikes', strikes, 'refused_ms', now)
  redis.call('PEXPIRE', key, 120000)
end
return reply
