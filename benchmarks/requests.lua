-- The requests that wrk sends; each differs from the one before.
--
--   wrk -s requests.lua URL -- WHAT TENANTS SEED [RATE]
--
-- TENANTS is a file with a line for each key: the key, the first and the last id of its
-- project's animals, and the step from one to the next. Without a RATE, each connection
-- sends a request as soon as the previous one is answered. With a RATE, that many
-- requests are due per second, evenly spaced, and the next free connection sends each.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds, nanoseconds; } timespec;
  int clock_gettime(int clock, timespec *time);
]])

local MONOTONIC = 1
local CATEGORIES = 20 -- of each project, as in tenants.py
-- Enough client addresses that none exceeds the quota of requests without a valid key.
local ADDRESSES = 8192

local any = math.random
local tenants = {}
local ordered = 0
local ask

local function send(tenant, method, path, body)
  local address = any(ADDRESSES) - 1
  tenant.headers["X-Forwarded-For"] =
    ("10.0.%d.%d"):format(address / 256, address % 256)
  return wrk.format(method, path, tenant.headers, body)
end

local function list()
  local tenant, limit = tenants[any(#tenants)], any(18, 22)
  local last = tenant.last - limit * tenant.step
  local path = "/v1/pets?limit=%d&after=%d"
  return send(tenant, "GET", path:format(limit, any(tenant.first - 1, last)))
end

local function get()
  local tenant = tenants[any(#tenants)]
  local place = any(0, (tenant.last - tenant.first) / tenant.step)
  return send(tenant, "GET", "/v1/pets/" .. tenant.first + place * tenant.step)
end

local function create()
  local body = '{"name": "Rex %d", "categoryId": %d}'
  body = body:format(any(1000000), any(0, CATEGORIES - 1))
  return send(tenants[any(#tenants)], "POST", "/v1/pets", body)
end

-- Each animal is ordered once; the first of every three is available.
local function order()
  local tenant = tenants[ordered % #tenants + 1]
  local pet = tenant.first + 3 * tenant.step * math.floor(ordered / #tenants)
  ordered = ordered + 1
  return send(tenant, "POST", "/v1/store/orders", ('{"petId": %d}'):format(pet))
end

local function one_in(count, one, other)
  return function()
    return any(count) == 1 and one() or other()
  end
end

local asks = {
  list = list,
  get = get,
  create = create,
  read = one_in(2, list, get),
  write = one_in(2, create, order),
}

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
  local what, file, seed, rate = unpack(arguments)
  for line in io.lines(file) do
    local key, first, last, step = line:match("(%S+) (%d+) (%d+) (%d+)")
    table.insert(tenants, {
      first = tonumber(first), last = tonumber(last), step = tonumber(step),
      headers = {
        Authorization = "Bearer " .. key,
        ["Content-Type"] = "application/json",
      },
    })
  end
  math.randomseed(tonumber(seed))
  ask = assert(asks[what], what)
  if rate then
    keep_to(tonumber(rate))
  end
end

function request()
  return ask()
end
