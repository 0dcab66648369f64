-- Where users logged in from, so that strangers' wrong passwords do not shut them out; invitations that tell nothing of
-- other tenants' users.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end

CREATE TABLE known_origins (
    tenant_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    origin    bytea NOT NULL,  -- keyed with the deployment's secret: an address is soon guessed
    seen_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, origin),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE known_origins ENABLE ROW LEVEL SECURITY;
ALTER TABLE known_origins FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON known_origins TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON known_origins TO cushion_service;
CREATE POLICY definer ON known_origins TO cushion_definer USING (true);
GRANT SELECT ON known_origins TO cushion_definer;

-- One e-mail, one account in the deployment. Who is only invited has none yet: several tenants may ask the same person, and
-- none learns whether another one did, or has them.
DROP INDEX users_email_key;
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE removed_at IS NULL AND status <> 'invited';
CREATE UNIQUE INDEX users_tenant_email_key ON users (tenant_id, lower(email)) WHERE removed_at IS NULL;

DROP FUNCTION find_login(text);
CREATE FUNCTION find_login(wanted text, at bytea)
    RETURNS TABLE (tenant_id uuid, user_id uuid, email text, full_name text, role text, status text, password_hash text,
                   two_factor_enabled boolean, tenant_status text, is_known boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT u.tenant_id, u.id, u.email, u.full_name, u.role, u.status, u.password_hash, u.two_factor_enabled, t.status,
               EXISTS (SELECT FROM known_origins k
                       WHERE k.tenant_id = u.tenant_id AND k.user_id = u.id AND k.origin = at)
        FROM users u JOIN tenants t ON t.id = u.tenant_id
        WHERE lower(u.email) = lower(wanted) AND u.removed_at IS NULL AND u.status <> 'invited'
    $$;
REVOKE ALL ON FUNCTION find_login(text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_login(text, bytea) TO cushion_service;
ALTER FUNCTION find_login(text, bytea) OWNER TO cushion_definer;

REVOKE CREATE ON SCHEMA public FROM cushion_definer;
