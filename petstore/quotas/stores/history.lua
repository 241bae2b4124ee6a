-- Returns the figures of a subject for a range of days.
--
-- KEYS[1]  '<subject>:<day>', any day
-- ARGV     the first and the last day, counted from 1970-01-01
-- Returns  for each day: the day, the requests served, the requests refused

local subject = string.match(KEYS[1], '^(.*):')
local days = {}
for day = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local seen = redis.call('HMGET', subject .. ':' .. day, 'served', 'refused')
  table.insert(days, {day, tonumber(seen[1]) or 0, tonumber(seen[2]) or 0})
end
return days
