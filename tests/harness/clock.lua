local real = redis
local redis = {call = function(...)
  local now = tonumber(real.call('GET', 'test_clock') or nil)
  if not now then return real.call(...) end
  local command, key, value, _, ms = ...
  if command == 'TIME' then return {math.floor(now / 1000), now % 1000 * 1000} end
  local ends = tonumber(real.call('HGET', 'test_ends', key) or now + 1)
  if ends <= now then real.call('DEL', key) end
  if command == 'PTTL' then return ends - now end
  if command ~= 'SET' then return real.call(...) end
  real.call('HSET', 'test_ends', key, now + ms)
  return real.call('SET', key, value)
end}
