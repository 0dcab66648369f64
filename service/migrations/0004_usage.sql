-- Usage that outlives Redis, and a caller's whole standing in one call, for when Redis is away.

CREATE TABLE tenant_usage (
    tenant_id uuid NOT NULL REFERENCES tenants,
    month     text NOT NULL,  -- YYYY-MM, of UTC
    name      text NOT NULL,  -- calls, or what a meter counts
    amount    bigint NOT NULL,
    PRIMARY KEY (tenant_id, month, name)
);
ALTER TABLE tenant_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenant_usage TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON tenant_usage TO cushion_definer USING (true);
GRANT SELECT ON tenant_usage TO cushion_service;
GRANT SELECT, INSERT, UPDATE ON tenant_usage TO cushion_definer;
GRANT UPDATE (usage_count, last_used_at) ON api_keys TO cushion_definer;

GRANT CREATE ON SCHEMA public TO cushion_definer;

DROP FUNCTION find_tenant(uuid);
CREATE FUNCTION find_tenant(wanted uuid)
    RETURNS TABLE (id uuid, status text, subscription_tier text, slug text, settings jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.id, t.status, t.subscription_tier, t.slug, t.settings FROM tenants t WHERE t.id = wanted $$;

DROP FUNCTION find_api_key(bytea);
CREATE FUNCTION find_api_key(wanted bytea)
    RETURNS TABLE (tenant_id uuid, id uuid, permissions text[], status text, expires_at timestamptz,
                   usage_count bigint, last_used_at timestamptz,
                   creator_id uuid, creator_email text, creator_role text, creator_status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.tenant_id, k.id, k.permissions, k.status, k.expires_at, k.usage_count, k.last_used_at,
               u.id, u.email, u.role, u.status
        FROM api_keys k JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.creator_id WHERE k.key_hash = wanted
    $$;

CREATE FUNCTION find_two_factor(wanted uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT u.two_factor_enabled FROM users u WHERE u.id = wanted $$;

-- Everything that the gate's copies would tell, of a user's token.
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

-- The same of an API key: its own row is find_api_key's.
CREATE FUNCTION key_standing(of_hash bytea, of_month text)
    RETURNS TABLE (tenant jsonb, key jsonb, amounts jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT (SELECT to_jsonb(t) FROM find_tenant(k.tenant_id) t), to_jsonb(k),
               (SELECT coalesce(jsonb_object_agg(m.name, m.amount), '{}') FROM tenant_usage m
                WHERE m.tenant_id = k.tenant_id AND m.month = of_month)
        FROM find_api_key(of_hash) k
    $$;

-- Totals of a batch: absolute, and a total never falls, so a repeat does no harm. The rows are taken in one order by
-- everybody. What stands afterwards is told: more than was written where Redis came back with an older file.
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

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['find_tenant(uuid)', 'find_api_key(bytea)', 'find_two_factor(uuid)',
                                'user_standing(uuid, uuid, uuid, text)', 'key_standing(bytea, text)',
                                'keep_tenant_usage(json)', 'keep_key_usage(json)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
