-- Two-factor login, password resets, removed users, idle sessions, rotated keys.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

ALTER TABLE users
    ADD COLUMN two_factor_secret  text,                       -- sealed
    ADD COLUMN two_factor_pending text,                       -- sealed: shown to a user who has yet to prove that they have it
    ADD COLUMN two_factor_step    bigint NOT NULL DEFAULT 0,  -- time step of the last code that was accepted: it is good once
    ADD COLUMN removed_at         timestamptz,                -- the row stays for the records that name it
    ADD CONSTRAINT users_removed_check CHECK (removed_at IS NULL OR status = 'inactive');  -- who asks for the status alone is right

DROP INDEX users_email_key;
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE removed_at IS NULL;  -- a removed user's e-mail is free again

ALTER TABLE sessions ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();  -- the login, or the last refresh
ALTER TABLE api_keys ADD COLUMN replaced_by uuid;  -- the key that took over when this one was rotated

CREATE TABLE recovery_codes (
    tenant_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    code_hash bytea NOT NULL,  -- keyed with the deployment's secret: a code is short
    used_at   timestamptz,
    PRIMARY KEY (tenant_id, user_id, code_hash),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE password_resets (
    tenant_id  uuid NOT NULL,
    id         uuid NOT NULL,
    user_id    uuid NOT NULL,
    token_hash bytea NOT NULL CONSTRAINT password_resets_token_key UNIQUE,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX password_resets_user ON password_resets (tenant_id, user_id);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['recovery_codes', 'password_resets']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
CREATE POLICY definer ON password_resets TO cushion_definer USING (true);
GRANT SELECT ON password_resets TO cushion_definer;

-- Before any tenant is known ----------------------------------------------------------------------------------------------

DROP FUNCTION find_login(text);
CREATE FUNCTION find_login(wanted text)
    RETURNS TABLE (tenant_id uuid, user_id uuid, email text, full_name text, role text, status text, password_hash text,
                   two_factor_enabled boolean, tenant_status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT u.tenant_id, u.id, u.email, u.full_name, u.role, u.status, u.password_hash, u.two_factor_enabled, t.status
        FROM users u JOIN tenants t ON t.id = u.tenant_id
        WHERE lower(u.email) = lower(wanted) AND u.removed_at IS NULL
    $$;

CREATE FUNCTION find_password_reset(wanted bytea)
    RETURNS TABLE (tenant_id uuid, id uuid, user_id uuid, expires_at timestamptz, used_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT r.tenant_id, r.id, r.user_id, r.expires_at, r.used_at FROM password_resets r WHERE r.token_hash = wanted
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['find_login(text)', 'find_password_reset(bytea)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
