-- The requests that wrk sends, from a file with a line for each.
--
--   wrk -s requests.lua URL -- FILE SEED [RATE]
--
-- Without a RATE, each connection sends a request as soon as the previous one is
-- answered. With a RATE, that many requests are due per second, evenly spaced, and the
-- next free connection sends each.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds, nanoseconds; } timespec;
  int clock_gettime(int clock, timespec *time);
]])

local MONOTONIC = 1
local ADDRESSES = 8192 -- of clients

local lines = {}
local place

local function now()
  local time = ffi.new("timespec")
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local function keep_to(rate)
  local due
  function delay()
    due = due or now() -- wrk connects before it first calls this function
    due = due + 1 / rate
    return math.max(0, math.floor((due - now()) * 1000 + 0.5))
  end
end

function init(arguments)
  local file, seed, rate = unpack(arguments)
  for line in io.lines(file) do
    table.insert(lines, line)
  end
  math.randomseed(tonumber(seed))
  place = math.random(#lines)
  if rate then
    keep_to(tonumber(rate))
  end
end

function request()
  place = place % #lines + 1
  local method, path, key, body = lines[place]:match("(%S+)\t(%S+)\t([^\t]+)\t(.*)")
  local address = math.random(ADDRESSES) - 1
  local headers = {
    Authorization = key,
    ["Content-Type"] = "application/json",
    ["X-Forwarded-For"] = ("10.0.%d.%d"):format(address / 256, address % 256),
  }
  return wrk.format(method, path, headers, body ~= "" and body or nil)
end
