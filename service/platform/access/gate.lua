-- Everything that must be known of a caller before its request may go on, in one round trip:
-- revocation, tenant, two-factor, API key, token bucket, minute window, day, and the windows of the authentication
-- endpoints; and what the request uses of the month. A key's request counts in its own bucket, minute and day, and in its
-- tenant's: as many keys as there may be ask for no more than one. The answer tells the minute that has less left.
--
-- ARGV: 1 mode (user, key, system, none)   2 enforce (1, 0; -: no limit concerns it, and nothing is counted)   3 tenant id   4 user id   5 session id
--       6 token generation   7 key hash
--       of mode system 4 to 6 are its figures instead: a minute, burst, a day
--       8 month   9 meter (empty: none)   10 its amount   11 the scope that a key needs for it to be counted
--       12 to 15 its figures a month, by tier (-1 unlimited)
--       16 the tenant record and 17 the version of the switches that the caller expects, 18 the parts of a command that is
--       run if both are so and the request passes, then these parts
--       then windows in threes: name, limit, seconds (a request passes only if each permits it)
-- Answer: {outcome, limit, remaining, reset, retry_after, tenant record, key record, whether the user must enrol (1, 0),
--          the version of the switches that is copied here (empty: none), the call's moment in its windows where it has some}
--         of limited: empty for the moment, then the limit that has to be waited for the longest: name, figure, seconds
-- outcome: ok, recorded (ok, and the command was run), limited, used_up (the meter's figure), revoked; or what to load first, and of which tenant:
--          load_revocations, load_tenant, load_key, load_user, load_usage
--
-- ok of a key that does not exist, or is dead, and of a tenant that is not active is for the caller to refuse by the
-- records: nothing is counted then.

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local mode, enforce, counted, month = ARGV[1], ARGV[2] == '1', ARGV[2] ~= '-', ARGV[8]
local switches = redis.call('HGET', 'cushion:switches', 'version') or ''
local tenant_id, tenant_record, key_record, must_enroll = ARGV[3], '', '', 0
local subject, key_id, key_used = nil, nil, nil
local metered = ARGV[9] ~= ''

-- Each call of Redis takes about a microsecond, so what is read by name is read at once: the calls of a subject in this
-- minute and on this day, and other texts, whose values are returned.
local minute, day = math.floor(now / 60), math.floor(now / 86400)
local calls = {}
local function read_calls(whose, ...)
    local minute_key, day_key = 'cushion:minute:' .. whose .. ':' .. minute, 'cushion:day:' .. whose .. ':' .. day
    local values = redis.call('MGET', minute_key, day_key, ...)
    calls[whose] = {minute_key = minute_key, day_key = day_key, minute = tonumber(values[1] or '0'), day = tonumber(values[2] or '0')}
    return values[3], values[4], values[5]
end

if mode == 'user' then
    local marker, revoked, generation = read_calls('tenant:' .. tenant_id, 'cushion:revocations',
        'cushion:revoked:' .. ARGV[5], 'cushion:generation:' .. ARGV[4])
    if not marker then return {'load_revocations'} end
    if revoked then return {'revoked'} end
    if generation and tonumber(ARGV[6]) < tonumber(generation) then return {'revoked'} end
    subject = 'tenant:' .. tenant_id
elseif mode == 'key' then
    key_record = redis.call('GET', 'cushion:key:' .. ARGV[7])
    if not key_record then return {'load_key'} end
    if key_record == '' then return {'ok', 0, 0, 0, 0, '', '', 0, switches} end  -- no such key
    local known, key = pcall(cjson.decode, key_record:sub(41))  -- behind its signature, which the caller checks
    if not known or type(key) ~= 'table' then return {'load_key'} end
    local over = key.expires_at ~= cjson.null and key.expires_at <= now
    if over or not key.active then return {'ok', 0, 0, 0, 0, '', key_record, 0, switches} end
    tenant_id, key_id = key.tenant_id, key.id
    key_used = redis.call('HGET', 'cushion:key_usage:' .. key_id, 'count')
    if not key_used then return {'load_key'} end
    subject = 'key:' .. key_id
    read_calls(subject)
    read_calls('tenant:' .. tenant_id)
    if metered then
        metered = false
        for _, scope in ipairs(key.scopes) do metered = metered or scope == ARGV[11] end
    end
elseif mode == 'system' then
    subject = 'system'
    read_calls(subject)
end

local tier = ''
local limit, remaining, reset, retry_after = 0, 0, 0, 0
local passed = {}

local function wait(seconds, name, most, span)
    if seconds > retry_after then retry_after, passed = seconds, {name, most, span} end
end

local writes = {}

-- The bucket, the minute and the day of a subject, which its limits are called after.
local function bound(whose, name, per_minute, burst, per_day)
    local used = calls[whose]
    if used.minute >= per_minute then wait(math.ceil((minute + 1) * 60 - now), name, per_minute, 60) end

    local bucket_key = 'cushion:bucket:' .. whose
    local bucket = redis.call('HMGET', bucket_key, 'tokens', 'at')
    local rate = per_minute / 60
    local tokens = tonumber(bucket[1] or burst)
    tokens = math.min(burst, tokens + math.max(0, now - tonumber(bucket[2] or now)) * rate)
    if tokens < 1 then wait(math.ceil((1 - tokens) / rate), name, burst, 0) end

    if per_day >= 0 and used.day >= per_day then
        wait(math.ceil((day + 1) * 86400 - now), name, per_day, 86400)
    end

    writes[#writes + 1] = function()
        if redis.call('INCR', used.minute_key) == 1 then redis.call('EXPIRE', used.minute_key, 120) end
        redis.call('HSET', bucket_key, 'tokens', tostring(math.max(0, tokens - 1)), 'at', tostring(now))
        redis.call('EXPIRE', bucket_key, 3600)
        if per_day >= 0 and redis.call('INCR', used.day_key) == 1 then redis.call('EXPIRE', used.day_key, 172800) end
    end
end

local function left_of(whose, per_minute)
    return math.max(0, per_minute - calls[whose].minute)
end

if subject then
    local per_minute, burst, per_day = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
    local status, timeout_minutes = 'active', 0
    if mode ~= 'system' then
        local tenant = redis.call('HMGET', 'cushion:tenant:' .. tenant_id, 'status', 'tier', 'per_minute', 'burst',
            'per_day', 'two_factor', 'timeout_minutes', 'record')
        if not tenant[1] then return {'load_tenant', tenant_id} end
        status, tier, tenant_record = tenant[1], tenant[2], tenant[8]
        per_minute, burst, per_day = tonumber(tenant[3]), tonumber(tenant[4]), tonumber(tenant[5])
        timeout_minutes = tonumber(tenant[7])
        if mode == 'user' and tenant[6] == '1' then
            local enabled = redis.call('GET', 'cushion:two_factor:' .. ARGV[4])
            if not enabled then return {'load_user'} end
            if enabled == '0' then must_enroll = 1 end
        end
    end

    limit, reset = per_minute, (minute + 1) * 60
    remaining = left_of(subject, per_minute)
    if key_id then remaining = math.min(remaining, left_of('tenant:' .. tenant_id, per_minute)) end
    if status ~= 'active' or not counted then return {'ok', limit, remaining, reset, 0, tenant_record, key_record, must_enroll, switches} end
    bound(subject, 'requests', per_minute, burst, per_day)
    if key_id then bound('tenant:' .. tenant_id, 'tenant', per_minute, burst, per_day) end

    writes[#writes + 1] = function()
        if key_id then
            redis.call('HSET', 'cushion:key_usage:' .. key_id, 'count', string.format('%.0f', key_used + 1),
                'at', string.format('%.3f', now))
            redis.call('SADD', 'cushion:key_usage_changed', tenant_id .. ':' .. key_id)
        end
        if mode == 'user' and timeout_minutes > 0 then
            redis.call('SET', 'cushion:seen:' .. ARGV[5], string.format('%.3f', now), 'EX', timeout_minutes * 60 + 3600)
        end
        remaining = math.max(0, remaining - 1)
    end
end

-- Totals of the month: absolute, so the worker may write them to PostgreSQL as often as it likes.
local used_up = false
local counts = subject ~= nil and mode ~= 'system'
if counts or metered then
    local usage_key = 'cushion:usage:' .. tenant_id .. ':' .. month
    local totals = redis.call('HMGET', usage_key, 'calls', metered and ARGV[9] or 'calls')
    if not totals[1] then return {'load_usage', tenant_id} end
    local amount = tonumber(ARGV[10])
    if metered then
        local place = {free = 12, standard = 13, premium = 14, enterprise = 15}
        local most = tonumber(ARGV[place[tier] or 12])
        used_up = most >= 0 and tonumber(totals[2] or '0') + amount > most
    end
    writes[#writes + 1] = function()
        local fields = {}
        if counts then fields = {'calls', string.format('%.0f', totals[1] + 1)} end
        if metered then
            fields[#fields + 1] = ARGV[9]
            fields[#fields + 1] = string.format('%.0f', (totals[2] or 0) + amount)
        end
        redis.call('HSET', usage_key, unpack(fields))
        redis.call('SADD', 'cushion:usage_changed', tenant_id .. ':' .. month)
    end
end

-- A window holds in any span of its length: a list of the moments of its calls, the oldest first.
local moment = nil
local parts = tonumber(ARGV[18])
for i = 19 + parts, #ARGV, 3 do
    local most, seconds = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
    if most >= 0 then
        local window_key = 'cushion:window:' .. ARGV[i]
        local oldest = redis.call('LINDEX', window_key, 0)
        while oldest and tonumber(oldest) <= now - seconds do
            redis.call('LPOP', window_key)
            oldest = redis.call('LINDEX', window_key, 0)
        end
        local used = redis.call('LLEN', window_key)
        if used >= most then
            local leaving = most > 0 and redis.call('LINDEX', window_key, used - most) or now
            wait(math.max(math.ceil(leaving + seconds - now), 1), ARGV[i], most, seconds)
        end
        if not subject then
            limit, remaining, reset = most, math.max(0, most - used), math.ceil((oldest or now) + seconds)
        end
        moment = string.format('%.6f', now)
        writes[#writes + 1] = function()
            redis.call('RPUSH', window_key, moment)
            if used >= most then redis.call('LPOP', window_key) end  -- nothing is enforced; what is kept stays bounded
            redis.call('EXPIRE', window_key, seconds + 60)
            if not subject then remaining = math.max(0, remaining - 1) end
        end
    end
end

if retry_after > 0 and enforce then
    return {'limited', limit, remaining, reset, retry_after, tenant_record, key_record, must_enroll, switches, '',
        passed[1], passed[2], passed[3]}
end
if used_up then
    return {'used_up', limit, remaining, reset, 0, tenant_record, key_record, must_enroll, switches}
end
for _, write in ipairs(writes) do write() end
local outcome = 'ok'
if parts > 0 and tenant_record == ARGV[16] and switches == ARGV[17] and must_enroll == 0 then
    redis.call(unpack(ARGV, 19, 18 + parts))
    outcome = 'recorded'
end
return {outcome, limit, remaining, reset, 0, tenant_record, key_record, must_enroll, switches, moment}
