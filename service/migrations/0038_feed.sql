-- Calls that come by the thousand, counted by caller, record and minute until they become an entry of the audit log; and
-- when a worker began with a job.

ALTER TABLE jobs ADD COLUMN started_at timestamptz;  -- the last time

CREATE TABLE calls (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    since         timestamptz NOT NULL,  -- the start of the time that they are counted in
    action        text NOT NULL,
    caller        text NOT NULL,         -- the key, else the user
    resource_id   text NOT NULL,         -- empty: none
    user_id       uuid,
    user_email    text,                  -- where it is not the user's by the identifier
    api_key_id    uuid,
    resource_type text,
    resource_name text,
    calls         bigint NOT NULL CHECK (calls > 0),
    formulas      bigint NOT NULL,
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    ip_addresses  text[] NOT NULL,       -- at most ten
    user_agent    text,                  -- of the last, as the request
    request_id    text,
    PRIMARY KEY (tenant_id, since, action, caller, resource_id)
);
CREATE INDEX calls_since ON calls (since);

ALTER TABLE calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE calls FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON calls TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON calls TO cushion_service;
CREATE POLICY definer ON calls TO cushion_definer USING (true);
GRANT SELECT (tenant_id, since) ON calls TO cushion_definer;

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end
CREATE FUNCTION calls_before(moment timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT DISTINCT c.tenant_id FROM calls c WHERE c.since < moment $$;
REVOKE ALL ON FUNCTION calls_before(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION calls_before(timestamptz) TO cushion_service;
ALTER FUNCTION calls_before(timestamptz) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
