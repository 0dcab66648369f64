-- Sends the requests of a plan in its order, counts the answers by status, and looks at the body of each tenth.
-- The plan is a Lua table in the file LOAD_PLAN: steps (method, path, headers, body), order, markers, expected, seed.

local all_threads = {}

function setup(thread)
  table.insert(all_threads, thread)
  thread:set("place", #all_threads)
end

function init(arguments)
  plan = dofile(os.getenv("LOAD_PLAN"))
  sent, looked, statuses, unlike, odd = 0, 0, {}, 0, ""
  expected = {}
  for _, status in ipairs(plan.expected) do expected[status] = true end
  for _, step in ipairs(plan.steps) do
    step.numbered = false
    for _, part in ipairs({step.path, step.body or "", step.headers["X-Request-ID"] or ""}) do
      step.numbered = step.numbered or part:find("{n}", 1, true) ~= nil
    end
    if not step.numbered then step.bytes = wrk.format(step.method, step.path, step.headers, step.body) end
  end
end

function request()
  sent = sent + 1
  local step = plan.steps[plan.order[sent % #plan.order + 1]]
  if not step.numbered then return step.bytes end
  local number = string.format("%d", plan.seed + sent * 64 + place)
  local headers = {}
  for name, value in pairs(step.headers) do headers[name] = value:gsub("{n}", number) end
  local body = step.body and step.body:gsub("{n}", number)
  return wrk.format(step.method, (step.path:gsub("{n}", number)), headers, body)
end

function response(status, headers, body)
  local name = tostring(status)
  statuses[name] = (statuses[name] or 0) + 1
  if not expected[status] then
    if odd == "" then odd = name .. " " .. body:sub(1, 300) end
  elseif statuses[name] % 10 == 1 then
    looked = looked + 1
    for _, marker in ipairs(plan.markers) do
      if body:find(marker, 1, true) then return end
    end
    unlike = unlike + 1
    if odd == "" then odd = name .. " " .. body:sub(1, 300) end
  end
end

local function text(value)
  return '"' .. value:gsub('[%c"\\\128-\255]', function(sign) return string.format("\\u%04x", sign:byte()) end) .. '"'
end

function done(summary, latency, requests)
  local counted, looks, wrong, first = {}, 0, 0, ""
  for _, thread in ipairs(all_threads) do
    for name, count in pairs(thread:get("statuses")) do counted[name] = (counted[name] or 0) + count end
    looks, wrong = looks + thread:get("looked"), wrong + thread:get("unlike")
    if first == "" then first = thread:get("odd") end
  end
  local parts = {}
  for name, count in pairs(counted) do table.insert(parts, text(name) .. ":" .. string.format("%d", count)) end
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.stderr:write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50":%.6f,"p95":%.6f,"p99":%.6f,"most":%.6f,"broken":%d,"looked":%d,"unlike":%d,"odd":%s,"statuses":{%s}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6, latency:percentile(95) / 1e6,
    latency:percentile(99) / 1e6, latency.max / 1e6, failed, looks, wrong, text(first), table.concat(parts, ",")))
end
