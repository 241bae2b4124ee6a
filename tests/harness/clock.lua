local real = redis
local redis = {call = function(command, ...)
  local now = command == 'TIME' and real.call('GET', 'test_clock')
  if not now then return real.call(command, ...) end
  return {math.floor(now / 1000), now % 1000 * 1000}
end}
