-- What requests leave behind: usage, answers for an Idempotency-Key, and counts of frequent calls.

-- Usage that outlives Redis.
CREATE TABLE tenant_usage (
    tenant_id uuid NOT NULL REFERENCES tenants,
    month     text NOT NULL,  -- YYYY-MM in UTC
    name      text NOT NULL,  -- calls, or the name of a meter
    amount    bigint NOT NULL,
    PRIMARY KEY (tenant_id, month, name)
);
ALTER TABLE tenant_usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenant_usage TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON tenant_usage TO cushion_definer USING (true);
GRANT SELECT ON tenant_usage TO cushion_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant_usage TO cushion_definer;

-- Answers to requests with an Idempotency-Key, given again to a repetition.
CREATE TABLE idempotency_keys (
    tenant_id     uuid NOT NULL,   -- all zeros for an anonymous caller, as at a login
    caller        text NOT NULL,   -- a user, an API key, or an anonymous caller's address
    key_hash      bytea NOT NULL,
    request_hash  bytea NOT NULL,  -- of path, query and body, keyed with the deployment's secret: the key is for one request
    claim         uuid NOT NULL,   -- of the request that works on it
    claimed_until timestamptz NOT NULL,  -- without an answer by then, its process has died
    status        smallint,        -- of the answer; null until there is one
    media_type    text,
    headers       json,
    content       bytea,           -- null if the answer is not kept: a secret, or too large
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, caller, key_hash)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_keys TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON idempotency_keys TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO cushion_service;
GRANT SELECT, DELETE ON idempotency_keys TO cushion_definer;

-- Frequent calls, counted by caller, record and minute until they become one entry of the audit log.
CREATE TABLE calls (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    since         timestamptz NOT NULL,  -- start of the period of counting
    action        text NOT NULL,
    caller        text NOT NULL,         -- the key, otherwise the user
    resource_id   text NOT NULL,         -- empty: none
    user_id       uuid,
    user_email    text,                  -- if it is not that of user_id
    api_key_id    uuid,
    resource_type text,
    resource_name text,
    calls         bigint NOT NULL CHECK (calls > 0),
    formulas      bigint NOT NULL,
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    ip_addresses  text[] NOT NULL,       -- at most ten
    user_agent    text,                  -- of the last call, as request_id
    request_id    text,
    PRIMARY KEY (tenant_id, since, action, caller, resource_id)
);
CREATE INDEX calls_since ON calls (since);
ALTER TABLE calls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON calls TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON calls TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON calls TO cushion_service;
GRANT SELECT (tenant_id, since) ON calls TO cushion_definer;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- All that the gate must know of a user's token, in one call, while Redis is away.
CREATE FUNCTION user_standing(of_tenant uuid, of_user uuid, of_session uuid, of_month text)
    RETURNS TABLE (id uuid, status text, subscription_tier text, slug text, settings jsonb, two_factor_enabled boolean,
                   session_revoked boolean, generation integer, amounts jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT t.id, t.status, t.subscription_tier, t.slug, t.settings,
               EXISTS (SELECT FROM users u WHERE u.tenant_id = t.id AND u.id = of_user AND u.two_factor_enabled),
               EXISTS (SELECT FROM revocations r WHERE r.tenant_id = t.id AND r.kind = 'session'
                       AND r.subject = of_session AND r.expires_at > now()),
               coalesce((SELECT r.generation FROM revocations r WHERE r.tenant_id = t.id AND r.kind = 'user'
                         AND r.subject = of_user AND r.expires_at > now()), 0),
               (SELECT coalesce(jsonb_object_agg(m.name, m.amount), '{}') FROM tenant_usage m
                WHERE m.tenant_id = t.id AND m.month = of_month)
        FROM tenants t WHERE t.id = of_tenant
    $$;

-- The same for an API key.
CREATE FUNCTION key_standing(of_hash bytea, of_month text)
    RETURNS TABLE (tenant jsonb, key jsonb, amounts jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT (SELECT to_jsonb(t) FROM find_tenant(k.tenant_id) t), to_jsonb(k),
               (SELECT coalesce(jsonb_object_agg(m.name, m.amount), '{}') FROM tenant_usage m
                WHERE m.tenant_id = k.tenant_id AND m.month = of_month)
        FROM find_api_key(of_hash) k
    $$;

-- Write the totals of a batch and return the stored ones. A total never falls, so a repetition does no harm, and a
-- Redis that came back with an older file learns the higher total. Rows are locked in one order.
CREATE FUNCTION keep_tenant_usage(entries json)
    RETURNS TABLE (tenant_id uuid, month text, name text, amount bigint)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        INSERT INTO tenant_usage AS kept (tenant_id, month, name, amount)
        SELECT e.tenant_id, e.month, e.name, e.amount
        FROM json_to_recordset(entries) AS e (tenant_id uuid, month text, name text, amount bigint)
        JOIN tenants t ON t.id = e.tenant_id
        ORDER BY e.tenant_id, e.month, e.name
        ON CONFLICT (tenant_id, month, name) DO UPDATE SET amount = greatest(kept.amount, EXCLUDED.amount)
        RETURNING kept.tenant_id, kept.month, kept.name, kept.amount
    $$;

-- The same for API keys.
CREATE FUNCTION keep_key_usage(entries json)
    RETURNS TABLE (id uuid, usage_count bigint)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH held AS (
            SELECT k.tenant_id, k.id, e.count, e.at
            FROM json_to_recordset(entries) AS e (tenant_id uuid, id uuid, count bigint, at double precision)
            JOIN api_keys k ON k.tenant_id = e.tenant_id AND k.id = e.id
            ORDER BY k.tenant_id, k.id
            FOR NO KEY UPDATE OF k
        )
        UPDATE api_keys k
        SET usage_count = greatest(k.usage_count, held.count),
            last_used_at = greatest(k.last_used_at, to_timestamp(held.at))
        FROM held WHERE k.tenant_id = held.tenant_id AND k.id = held.id
        RETURNING k.id, k.usage_count
    $$;

-- The tenants with counts that began before a moment.
CREATE FUNCTION calls_before(moment timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT DISTINCT c.tenant_id FROM calls c WHERE c.since < moment $$;

CREATE FUNCTION forget_idempotency_keys(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM idempotency_keys WHERE expires_at < now() LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_usage(months integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM tenant_usage WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM tenant_usage
                WHERE month < to_char((now() - make_interval(months => months)) AT TIME ZONE 'UTC', 'YYYY-MM') LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION user_standing(uuid, uuid, uuid, text), key_standing(bytea, text), keep_tenant_usage(json),
    keep_key_usage(json), calls_before(timestamptz), forget_idempotency_keys(integer),
    forget_usage(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION user_standing(uuid, uuid, uuid, text), key_standing(bytea, text), keep_tenant_usage(json),
    keep_key_usage(json), calls_before(timestamptz), forget_idempotency_keys(integer),
    forget_usage(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
