-- Tenants, users, and what identifies a caller: sessions, API keys, invitations.

CREATE TABLE tenants (
    id                uuid PRIMARY KEY,
    name              text NOT NULL,
    slug              text NOT NULL CONSTRAINT tenants_slug_key UNIQUE,
    subscription_tier text NOT NULL CHECK (subscription_tier IN ('free', 'standard', 'premium', 'enterprise')),
    status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'cancelled')),
    settings          jsonb NOT NULL DEFAULT '{}',
    version           integer NOT NULL DEFAULT 1,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    cancelled_at      timestamptz,  -- the grace period begins here
    emptied_at        timestamptz,  -- everything but the evidence was removed
    evidence_until    timestamptz  -- end of retention for runs without a stream profile, once the tenant is emptied
);
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants TO cushion_service USING (id = current_tenant()) WITH CHECK (id = current_tenant());
CREATE POLICY definer ON tenants TO cushion_definer USING (true);
-- The service may not write cancelled_at, emptied_at and evidence_until: they decide when evidence may be deleted.
GRANT SELECT, INSERT, UPDATE (id, name, slug, subscription_tier, status, settings, version, updated_at)
    ON tenants TO cushion_service;
GRANT SELECT, UPDATE (name, slug, settings, updated_at, emptied_at, evidence_until) ON tenants TO cushion_definer;

-- Write when the tenant was cancelled.
CREATE FUNCTION note_cancellation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF NEW.status <> 'cancelled' THEN
            NEW.cancelled_at := NULL;
        ELSIF NEW.cancelled_at IS NULL THEN
            NEW.cancelled_at := now();
        END IF;
        RETURN NEW;
    END
    $$;

CREATE TRIGGER tenants_cancelled BEFORE UPDATE OF status ON tenants FOR EACH ROW EXECUTE FUNCTION note_cancellation();

CREATE TABLE users (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    id                 uuid NOT NULL CONSTRAINT users_id_key UNIQUE,
    email              text NOT NULL,
    full_name          text NOT NULL,
    role               text NOT NULL CHECK (role IN ('owner', 'admin', 'analyst', 'viewer')),
    status             text NOT NULL CHECK (status IN ('active', 'inactive', 'invited')),
    password_hash      text,
    two_factor_enabled boolean NOT NULL DEFAULT false,
    token_generation   integer NOT NULL DEFAULT 0,  -- a token of an earlier generation is revoked
    last_login         timestamptz,
    login_count        integer NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    two_factor_secret  text,    -- sealed
    two_factor_pending text,    -- sealed: not yet confirmed by a code
    two_factor_step    bigint NOT NULL DEFAULT 0,  -- time step of the last accepted code, which works once
    removed_at         timestamptz,  -- the row stays for records that name the user
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT users_removed_check CHECK (removed_at IS NULL OR status = 'inactive')
);
-- An e-mail has one account in the deployment. Invited users have none yet: several tenants may invite the same person,
-- and none learns of the others. The e-mail of a removed user is free again.
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE removed_at IS NULL AND status <> 'invited';
CREATE UNIQUE INDEX users_tenant_email_key ON users (tenant_id, lower(email)) WHERE removed_at IS NULL;
ALTER TABLE users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON users TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON users TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON users TO cushion_service;
GRANT SELECT, DELETE ON users TO cushion_definer;

CREATE TABLE sessions (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,  -- the family of refresh tokens that one login began
    user_id      uuid NOT NULL,
    refresh_jti  uuid NOT NULL,  -- the only valid refresh token of the family
    generation   integer NOT NULL,
    revoked_at   timestamptz,
    expires_at   timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    used_at      timestamptz NOT NULL DEFAULT now(),  -- login or last refresh
    cookie       boolean NOT NULL DEFAULT false,  -- a browser's session: the refresh token is a cookie, never in a body
    previous_jti uuid,         -- the token before: tabs may refresh at the same moment
    rotated_at   timestamptz,  -- when refresh_jti was issued
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_user ON sessions (tenant_id, user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sessions TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON sessions TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO cushion_service;
GRANT SELECT, DELETE ON sessions TO cushion_definer;

CREATE TABLE revocations (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    kind       text NOT NULL CHECK (kind IN ('session', 'user')),
    subject    uuid NOT NULL,
    generation integer NOT NULL DEFAULT 0,  -- of a user: tokens of earlier generations are void
    expires_at timestamptz NOT NULL,        -- when the last access token concerned expires
    PRIMARY KEY (tenant_id, kind, subject)
);
ALTER TABLE revocations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON revocations TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON revocations TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON revocations TO cushion_service;
GRANT SELECT, DELETE ON revocations TO cushion_definer;

-- Where users have logged in from, so that wrong passwords of strangers do not lock them out.
CREATE TABLE known_origins (
    tenant_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    origin    bytea NOT NULL,  -- hash keyed with the deployment's secret: addresses can be guessed
    seen_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, origin),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE known_origins ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON known_origins TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON known_origins TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON known_origins TO cushion_service;
GRANT SELECT, DELETE ON known_origins TO cushion_definer;

CREATE TABLE recovery_codes (
    tenant_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    code_hash bytea NOT NULL,  -- keyed with the deployment's secret: codes are short
    used_at   timestamptz,
    PRIMARY KEY (tenant_id, user_id, code_hash),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE recovery_codes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON recovery_codes TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON recovery_codes TO cushion_service;

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
CREATE INDEX password_resets_expiry ON password_resets (expires_at);
ALTER TABLE password_resets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON password_resets TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON password_resets TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON password_resets TO cushion_service;
GRANT SELECT, DELETE ON password_resets TO cushion_definer;

CREATE TABLE invitations (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    user_id     uuid NOT NULL,
    token_hash  bytea NOT NULL CONSTRAINT invitations_token_key UNIQUE,
    expires_at  timestamptz NOT NULL,
    accepted_at timestamptz,
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON invitations TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON invitations TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON invitations TO cushion_service;
GRANT SELECT, DELETE ON invitations TO cushion_definer;

CREATE TABLE api_keys (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    name         text NOT NULL,
    description  text,
    key_hash     bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE,
    key_prefix   text NOT NULL,
    permissions  text[] NOT NULL,
    environment  text NOT NULL CHECK (environment IN ('live', 'test')),
    status       text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked', 'deprecated')),
    last_used_at timestamptz,
    usage_count  bigint NOT NULL DEFAULT 0,
    expires_at   timestamptz,
    creator_id   uuid NOT NULL,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    replaced_by  uuid,  -- the key that replaced this one
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, creator_id) REFERENCES users (tenant_id, id)
);
CREATE INDEX api_keys_creator ON api_keys (tenant_id, creator_id);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON api_keys TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON api_keys TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys TO cushion_service;
GRANT SELECT, UPDATE (last_used_at, usage_count) ON api_keys TO cushion_definer;

-- Logins, tokens and keys are looked up before any tenant is known, so these run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

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

CREATE FUNCTION find_invitation(wanted bytea)
    RETURNS TABLE (tenant_id uuid, invitation_id uuid, user_id uuid, expires_at timestamptz, accepted_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT i.tenant_id, i.id, i.user_id, i.expires_at, i.accepted_at FROM invitations i WHERE i.token_hash = wanted
    $$;

CREATE FUNCTION find_password_reset(wanted bytea)
    RETURNS TABLE (tenant_id uuid, id uuid, user_id uuid, expires_at timestamptz, used_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT r.tenant_id, r.id, r.user_id, r.expires_at, r.used_at FROM password_resets r WHERE r.token_hash = wanted
    $$;

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

CREATE FUNCTION find_tenant(wanted uuid)
    RETURNS TABLE (id uuid, status text, subscription_tier text, slug text, settings jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.id, t.status, t.subscription_tier, t.slug, t.settings FROM tenants t WHERE t.id = wanted $$;

CREATE FUNCTION find_two_factor(wanted uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT u.two_factor_enabled FROM users u WHERE u.id = wanted $$;

CREATE FUNCTION live_revocations()
    RETURNS TABLE (kind text, subject uuid, generation integer, seconds_left double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT r.kind, r.subject, r.generation, extract(epoch FROM r.expires_at - now())
        FROM revocations r WHERE r.expires_at > now()
    $$;

-- Check a caller's rights once more, right before COMMIT. Whoever ends rights takes the exclusive lock of the tenant,
-- user, session or key; a request that changes something takes the shared locks of its caller. All take locks in one
-- order and wait only for each other's COMMIT. So a request commits before its caller's rights end, or not at all.
--
-- locks: advisory locks in that order; alone: whether each is exclusive.
-- of_tenant: the caller's own tenant; null: check no rights.
-- of_user, of_session, of_key: null where this transaction ends them, or the caller has none.
-- of_roles: the roles whose users may do what the key does.
CREATE FUNCTION confirm_caller(locks bigint[], alone boolean[], of_tenant uuid, of_user uuid, of_session uuid,
                               of_generation integer, of_key uuid, of_roles text[], tenant_stays boolean)
    RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        held record;
    BEGIN
        FOR place IN 1 .. cardinality(locks) LOOP
            IF alone[place] THEN
                PERFORM pg_advisory_xact_lock(locks[place]);
            ELSE
                PERFORM pg_advisory_xact_lock_shared(locks[place]);
            END IF;
        END LOOP;
        IF of_tenant IS NULL THEN
            RETURN;
        END IF;
        -- A separate statement, which sees what was committed before the locks were granted.
        SELECT t.status AS tenant_status, u.status AS user_status, u.role, u.token_generation,
               s.id IS NOT NULL AND s.revoked_at IS NULL AS session_lives,
               k.status IN ('active', 'deprecated')
                   AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AS key_lives
        INTO held
        FROM tenants t
        LEFT JOIN users u ON u.tenant_id = t.id AND u.id = of_user
        LEFT JOIN sessions s ON s.tenant_id = t.id AND s.id = of_session
        LEFT JOIN api_keys k ON k.tenant_id = t.id AND k.id = of_key
        WHERE t.id = of_tenant;
        IF of_roles IS NULL THEN
            IF (of_session IS NOT NULL AND held.session_lives IS NOT TRUE)
               OR (of_user IS NOT NULL AND (held.user_status IS DISTINCT FROM 'active'
                                            OR held.token_generation > of_generation)) THEN
                RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_session';
            END IF;
        ELSIF (of_key IS NOT NULL AND held.key_lives IS NOT TRUE)
              OR (of_user IS NOT NULL AND held.user_status IS DISTINCT FROM 'active') THEN
            RAISE EXCEPTION 'the key has ended' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_key';
        END IF;
        IF tenant_stays AND held.tenant_status IS DISTINCT FROM 'active' THEN
            RAISE EXCEPTION 'the tenant is not active' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_tenant';
        END IF;
        IF of_roles IS NOT NULL AND of_user IS NOT NULL AND held.role <> ALL (of_roles) THEN
            RAISE EXCEPTION 'the right was lost' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_right';
        END IF;
    END
    $$;

-- Whether there is no tenant yet. With `alone`, of two first registrations the second waits until the first one's
-- tenant is there.
CREATE FUNCTION lacks_tenants(alone boolean) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF alone THEN
            PERFORM pg_advisory_xact_lock(hashtextextended('first tenant', 0));
        END IF;
        RETURN NOT EXISTS (SELECT FROM tenants);
    END
    $$;

-- Tenants by slug or identifier, for operators.
CREATE FUNCTION tenants_called(wanted text[]) RETURNS TABLE (name text, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT w.name, t.id FROM unnest(wanted) AS w (name) JOIN tenants t ON t.slug = w.name
        UNION
        SELECT w.name, t.id FROM unnest(wanted) AS w (name) JOIN tenants t ON t.id::text = lower(w.name)
    $$;

-- Slugs with the same beginning, to suggest for a misspelt one.
CREATE FUNCTION slugs_beginning(beginning text, most integer) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.slug FROM tenants t WHERE starts_with(t.slug, beginning) ORDER BY t.slug LIMIT most $$;

-- Tenants by slug or identifier, or all of them, for the deployment's commands.
CREATE FUNCTION tenants_named(wanted text) RETURNS TABLE (id uuid, slug text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT t.id, t.slug FROM tenants t
        WHERE wanted IS NULL OR t.slug = wanted OR t.id::text = wanted ORDER BY t.slug
    $$;

-- Old rows are deleted for all tenants, at most so many at a time, so that no statement takes long.
CREATE FUNCTION forget_revocations(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM revocations WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM revocations WHERE expires_at < now() - interval '1 hour' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- Sessions that expired a day ago. The audit log keeps their logins.
CREATE FUNCTION forget_sessions(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM sessions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM sessions WHERE expires_at < now() - interval '1 day' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_password_resets(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM password_resets WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM password_resets WHERE expires_at < now() - interval '1 day' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- Accepted invitations. An open one is withdrawn or renewed together with its user.
CREATE FUNCTION forget_invitations(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM invitations WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM invitations WHERE accepted_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_origins(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM known_origins WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM known_origins WHERE seen_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION find_login(text, bytea), find_invitation(bytea), find_password_reset(bytea),
    find_api_key(bytea), find_tenant(uuid), find_two_factor(uuid), live_revocations(),
    confirm_caller(bigint[], boolean[], uuid, uuid, uuid, integer, uuid, text[], boolean), lacks_tenants(boolean),
    tenants_called(text[]), slugs_beginning(text, integer), tenants_named(text), forget_revocations(integer),
    forget_sessions(integer), forget_password_resets(integer), forget_invitations(integer, integer),
    forget_origins(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_login(text, bytea), find_invitation(bytea), find_password_reset(bytea),
    find_api_key(bytea), find_tenant(uuid), find_two_factor(uuid), live_revocations(),
    confirm_caller(bigint[], boolean[], uuid, uuid, uuid, integer, uuid, text[], boolean), lacks_tenants(boolean),
    tenants_called(text[]), slugs_beginning(text, integer), tenants_named(text), forget_revocations(integer),
    forget_sessions(integer), forget_password_resets(integer), forget_invitations(integer, integer),
    forget_origins(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
