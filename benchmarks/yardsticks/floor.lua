-- The animals of floor.conf. Debian has no module for SQLite that keeps a prepared
-- statement, so LuaJIT calls the library itself; SQLite writes the JSON.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct sqlite3 sqlite3;
  typedef struct sqlite3_stmt sqlite3_stmt;
  int sqlite3_open(const char *file, sqlite3 **database);
  int sqlite3_prepare_v2(
    sqlite3 *, const char *sql, int bytes, sqlite3_stmt **, const char **rest);
  int sqlite3_bind_int64(sqlite3_stmt *, int position, long long value);
  int sqlite3_step(sqlite3_stmt *);
  const char *sqlite3_column_text(sqlite3_stmt *, int column);
  int sqlite3_reset(sqlite3_stmt *);
]])

local ROW = 100
local PET = "json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)"
local GET = "SELECT " .. PET .. " FROM pet WHERE id = ?"
local LIST = "SELECT json_group_array(" .. PET .. ") FROM"
  .. " (SELECT * FROM pet WHERE id > ? ORDER BY id LIMIT ?)"

local sqlite = ffi.load("libsqlite3.so.0")
local database = ffi.new("sqlite3 *[1]")
assert(sqlite.sqlite3_open(os.getenv("DATABASE"), database) == 0)

local function prepared(sql)
  local statement = ffi.new("sqlite3_stmt *[1]")
  assert(sqlite.sqlite3_prepare_v2(database[0], sql, -1, statement, nil) == 0)
  return statement[0]
end

local get, list = prepared(GET), prepared(LIST)

local function answer(statement, ...)
  for position = 1, select("#", ...) do
    sqlite.sqlite3_bind_int64(statement, position, tonumber((select(position, ...))))
  end
  assert(sqlite.sqlite3_step(statement) == ROW)
  local body = ffi.string(sqlite.sqlite3_column_text(statement, 0))
  sqlite.sqlite3_reset(statement)
  ngx.header["Content-Length"] = #body
  ngx.print(body)
end

return {
  get = function() answer(get, ngx.var[1]) end,
  list = function() answer(list, ngx.var.arg_after, ngx.var.arg_limit) end,
}
