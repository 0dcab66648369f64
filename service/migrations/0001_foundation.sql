-- Tenants, identity, audit, jobs, workbooks, compliance.
--
-- Three roles. The owner runs migrations. cushion_service is what the service works as: it owns nothing, and row
-- security shows it the rows of the tenant that the transaction names. cushion_definer owns the few functions that must
-- look before any tenant is known (login, key look-up, job hand-over); it can log in nowhere.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_service') THEN
        CREATE ROLE cushion_service LOGIN;  -- without a password: only a socket's peer, or whoever an owner gives one
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_definer') THEN
        CREATE ROLE cushion_definer NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of this server made them just now
END
$$;

GRANT cushion_service, cushion_definer TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO cushion_service, cushion_definer;
GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over its functions below; revoked at the end

CREATE FUNCTION current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('cushion.tenant', true), '')::uuid;

-- Tenants and identity ------------------------------------------------------------------------------------------------

CREATE TABLE tenants (
    id                uuid PRIMARY KEY,
    name              text NOT NULL,
    slug              text NOT NULL CONSTRAINT tenants_slug_key UNIQUE,
    subscription_tier text NOT NULL CHECK (subscription_tier IN ('free', 'standard', 'premium', 'enterprise')),
    status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'cancelled')),
    settings          jsonb NOT NULL DEFAULT '{}',
    version           integer NOT NULL DEFAULT 1,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now()
);

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
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));  -- one e-mail, one user per deployment

CREATE TABLE sessions (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,  -- the family of refresh tokens that one login began
    user_id      uuid NOT NULL,
    refresh_jti  uuid NOT NULL,  -- the only refresh token of the family that is still good
    generation   integer NOT NULL,
    revoked_at   timestamptz,
    expires_at   timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_user ON sessions (tenant_id, user_id);

CREATE TABLE revocations (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    kind       text NOT NULL CHECK (kind IN ('session', 'user')),
    subject    uuid NOT NULL,
    generation integer NOT NULL DEFAULT 0,  -- user: tokens of an earlier generation are void
    expires_at timestamptz NOT NULL,        -- when the last access token concerned has run out by itself
    PRIMARY KEY (tenant_id, kind, subject)
);

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
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, creator_id) REFERENCES users (tenant_id, id)
);
CREATE INDEX api_keys_creator ON api_keys (tenant_id, creator_id);

-- Audit: partitioned by tenant, so that it can be spread over servers ---------------------------------------------------

CREATE TABLE audit_log (
    tenant_id     uuid NOT NULL,
    id            uuid NOT NULL,
    occurred_at   timestamptz NOT NULL,
    user_id       uuid,
    user_email    text,
    api_key_id    uuid,
    action        text NOT NULL,
    resource_type text,
    resource_id   text,
    resource_name text,
    ip_address    text,
    user_agent    text,
    request_id    text,
    details       jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
) PARTITION BY HASH (tenant_id);
CREATE TABLE audit_log_0 PARTITION OF audit_log FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE audit_log_1 PARTITION OF audit_log FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE audit_log_2 PARTITION OF audit_log FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE audit_log_3 PARTITION OF audit_log FOR VALUES WITH (MODULUS 4, REMAINDER 3);
CREATE INDEX audit_log_time ON audit_log (tenant_id, occurred_at DESC);

-- Jobs: the outbox and the record of all background work -----------------------------------------------------------------

CREATE TABLE jobs (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    id           text NOT NULL,
    queue        text NOT NULL CHECK (queue IN ('default', 'calculate', 'parse', 'priority', 'export')),
    name         text NOT NULL,
    arguments    jsonb NOT NULL,
    request_id   text,
    status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'queued', 'running', 'completed', 'failed')),
    attempt      integer NOT NULL DEFAULT 0,  -- number of the present hand-over: an earlier one may not finish the job
    failures     integer NOT NULL DEFAULT 0,  -- runs that raised, or whose worker fell silent
    ready_at     timestamptz NOT NULL DEFAULT now(),  -- pending: not before this moment
    lease_until  timestamptz,                         -- queued and running: silence until here means lost
    error        text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX jobs_id_key ON jobs (id);
CREATE INDEX jobs_open ON jobs (status, ready_at) WHERE status IN ('pending', 'queued', 'running');

CREATE TABLE dead_letters (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                text NOT NULL,  -- dlq_...
    original_task_id  text NOT NULL,
    task_name         text NOT NULL,
    queue             text NOT NULL,
    arguments         jsonb NOT NULL,
    exception_type    text NOT NULL,
    exception_message text NOT NULL,
    traceback         text NOT NULL,
    retries_attempted integer NOT NULL,
    failed_at         timestamptz NOT NULL DEFAULT now(),
    status            text NOT NULL DEFAULT 'pending_review' CHECK (status IN ('pending_review', 'retried', 'resolved', 'discarded')),
    PRIMARY KEY (tenant_id, id)
);

-- Workbooks ----------------------------------------------------------------------------------------------------------

CREATE TABLE workbooks (
    tenant_id       uuid NOT NULL REFERENCES tenants,
    id              uuid NOT NULL,
    name            text NOT NULL,
    description     text,
    file_name       text NOT NULL,
    file_size       bigint NOT NULL,
    content_hash    text NOT NULL,  -- SHA-256 of the uploaded file: its key in the blob store
    status          text NOT NULL CHECK (status IN ('uploading', 'processing', 'ready', 'error', 'recalculating')),
    error_message   text,
    sheet_count     integer NOT NULL,
    total_cells     bigint NOT NULL DEFAULT 0,
    formula_cells   bigint NOT NULL DEFAULT 0,
    book            text,  -- manifest of the stored columns: date system, number formats, defined names, each sheet's blob; JSON
    book_key        text,  -- SHA-256 of it: the same key, the same columns
    mapping_id      text,
    stream_key      text,
    last_calculation timestamptz,
    calculation_count integer NOT NULL DEFAULT 0,
    created_by      text NOT NULL,
    version         integer NOT NULL DEFAULT 1,
    deleted_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX workbooks_created ON workbooks (tenant_id, created_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX workbooks_content ON workbooks (content_hash);

CREATE TABLE sheets (
    tenant_id     uuid NOT NULL,
    workbook_id   uuid NOT NULL,
    id            uuid NOT NULL,
    index         integer NOT NULL,
    name          text NOT NULL,
    state         text NOT NULL,
    row_count     integer NOT NULL,
    column_count  integer NOT NULL,
    formula_count integer NOT NULL DEFAULT 0,
    header_row    integer,  -- 0-based; null where the sheet has no header
    headers       jsonb NOT NULL DEFAULT '[]',
    types         text NOT NULL DEFAULT '',  -- of the values below the header, a letter a column: n s b d m -
    blob_key      text,     -- the stored columns; null until parsed
    PRIMARY KEY (tenant_id, workbook_id, index),
    UNIQUE (tenant_id, workbook_id, id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX sheets_blob ON sheets (blob_key);

CREATE TABLE workbook_uses (
    tenant_id   uuid NOT NULL,
    workbook_id uuid NOT NULL,
    used_by     text NOT NULL,  -- identifier of the record that needs the workbook to stay
    PRIMARY KEY (tenant_id, workbook_id, used_by),
    CONSTRAINT workbook_uses_workbook FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE RESTRICT
);

-- Compliance ---------------------------------------------------------------------------------------------------------

CREATE TABLE thresholds (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                uuid NOT NULL,
    workbook_id       uuid,
    test_id           text NOT NULL,
    threshold_value   double precision NOT NULL,
    threshold_type    text NOT NULL CHECK (threshold_type IN ('min', 'max', 'exact')),
    warning_threshold double precision,
    enabled           boolean NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT thresholds_test_key UNIQUE NULLS NOT DISTINCT (tenant_id, workbook_id, test_id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);

CREATE TABLE compliance_runs (
    tenant_id         uuid NOT NULL,
    id                uuid NOT NULL,
    workbook_id       uuid NOT NULL,
    test_suite        text NOT NULL,
    status            text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    summary           jsonb NOT NULL,
    results           json NOT NULL,  -- json, not jsonb: evidence stays as it was written, to the last digit and key
    skipped           json NOT NULL,
    executed_at       timestamptz NOT NULL,
    execution_time_ms double precision NOT NULL,
    -- What it takes to reproduce the run:
    workbook_hash     text NOT NULL,  -- of the uploaded file
    book_key          text NOT NULL,  -- of the columns that were read
    mapping           json NOT NULL,
    thresholds        json NOT NULL,
    options           json NOT NULL,
    engine_version    text NOT NULL,
    as_of             date NOT NULL,  -- the day that stands in for a workbook's own: that of its upload
    stream_key        text,
    created_by        text NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX compliance_runs_time ON compliance_runs (tenant_id, executed_at DESC);
CREATE INDEX compliance_runs_workbook ON compliance_runs (tenant_id, workbook_id, executed_at DESC);

-- Row security: FORCEd on every tenant table; nothing is visible while no tenant is set ----------------------------------

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['users', 'sessions', 'revocations', 'invitations', 'api_keys', 'audit_log', 'jobs', 'dead_letters',
                                'workbooks', 'sheets', 'workbook_uses', 'thresholds', 'compliance_runs']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant())', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants TO cushion_service USING (id = current_tenant()) WITH CHECK (id = current_tenant());
GRANT SELECT, INSERT, UPDATE ON tenants TO cushion_service;

-- What the definer may see across tenants, table by table.
CREATE POLICY definer ON tenants TO cushion_definer USING (true);
CREATE POLICY definer ON users TO cushion_definer USING (true);
CREATE POLICY definer ON invitations TO cushion_definer USING (true);
CREATE POLICY definer ON api_keys TO cushion_definer USING (true);
CREATE POLICY definer ON revocations TO cushion_definer USING (true);
CREATE POLICY definer ON jobs TO cushion_definer USING (true);
CREATE POLICY definer ON workbooks TO cushion_definer USING (true);
CREATE POLICY definer ON sheets TO cushion_definer USING (true);
GRANT SELECT ON tenants, users, invitations, api_keys, workbooks, sheets TO cushion_definer;
GRANT SELECT, DELETE ON revocations TO cushion_definer;
GRANT SELECT, UPDATE ON jobs TO cushion_definer;

-- Before any tenant is known ----------------------------------------------------------------------------------------------

CREATE FUNCTION find_login(wanted text)
    RETURNS TABLE (tenant_id uuid, user_id uuid, email text, role text, status text, password_hash text, tenant_status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT u.tenant_id, u.id, u.email, u.role, u.status, u.password_hash, t.status
        FROM users u JOIN tenants t ON t.id = u.tenant_id WHERE lower(u.email) = lower(wanted)
    $$;

CREATE FUNCTION find_invitation(wanted bytea)
    RETURNS TABLE (tenant_id uuid, invitation_id uuid, user_id uuid, expires_at timestamptz, accepted_at timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT i.tenant_id, i.id, i.user_id, i.expires_at, i.accepted_at FROM invitations i WHERE i.token_hash = wanted $$;

CREATE FUNCTION find_api_key(wanted bytea)
    RETURNS TABLE (tenant_id uuid, id uuid, permissions text[], status text, expires_at timestamptz,
                   creator_id uuid, creator_email text, creator_role text, creator_status text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT k.tenant_id, k.id, k.permissions, k.status, k.expires_at, u.id, u.email, u.role, u.status
        FROM api_keys k JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.creator_id WHERE k.key_hash = wanted
    $$;

CREATE FUNCTION find_tenant(wanted uuid)
    RETURNS TABLE (status text, subscription_tier text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.status, t.subscription_tier FROM tenants t WHERE t.id = wanted $$;

CREATE FUNCTION live_revocations()
    RETURNS TABLE (kind text, subject uuid, generation integer, seconds_left double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT r.kind, r.subject, r.generation, extract(epoch FROM r.expires_at - now())
        FROM revocations r WHERE r.expires_at > now()
    $$;

CREATE FUNCTION forget_revocations() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ DELETE FROM revocations WHERE expires_at < now() - interval '1 hour' $$;

-- Hand-over of jobs: pending ones to the queue, silent ones back to pending.
CREATE FUNCTION claim_jobs(most integer, lease_seconds integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
        FROM (SELECT o.tenant_id, o.id FROM jobs o WHERE o.status = 'pending' AND o.ready_at <= now()
              ORDER BY o.ready_at LIMIT most FOR UPDATE SKIP LOCKED) AS open
        WHERE j.tenant_id = open.tenant_id AND j.id = open.id
        RETURNING j.tenant_id, j.id, j.queue, j.attempt
    $$;

-- With queues_lost (Redis was flushed) whatever waits there is handed over again at once.
CREATE FUNCTION reap_jobs(queues_lost boolean) RETURNS TABLE (id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j SET status = 'pending', ready_at = now(), lease_until = NULL,
                          failures = j.failures + (j.status = 'running')::integer
        WHERE (j.status IN ('queued', 'running') AND j.lease_until < now()) OR (queues_lost AND j.status = 'queued')
        RETURNING j.id, j.queue, j.attempt
    $$;

CREATE FUNCTION queue_depths() RETURNS TABLE (queue text, depth bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT j.queue, count(*) FROM jobs j WHERE j.status IN ('pending', 'queued') GROUP BY j.queue $$;

CREATE FUNCTION blob_is_used(wanted text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT EXISTS (SELECT FROM workbooks w WHERE w.content_hash = wanted) OR EXISTS (SELECT FROM sheets s WHERE s.blob_key = wanted) $$;

CREATE FUNCTION announce_job() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_jobs', NEW.queue); RETURN NULL; END $$;
CREATE TRIGGER jobs_announce AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION announce_job();

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['find_login(text)', 'find_invitation(bytea)', 'find_api_key(bytea)', 'find_tenant(uuid)', 'live_revocations()',
                                'forget_revocations()', 'claim_jobs(integer, integer)', 'reap_jobs(boolean)', 'queue_depths()', 'blob_is_used(text)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
