-- What has had its time is forgotten: by functions, since it is everybody's, and so many at a time that none takes long.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

CREATE POLICY definer ON idempotency_keys TO cushion_definer USING (true);
CREATE POLICY definer ON sessions TO cushion_definer USING (true);
GRANT SELECT, DELETE ON idempotency_keys, sessions, password_resets TO cushion_definer;
GRANT DELETE ON jobs TO cushion_definer;

CREATE FUNCTION forget_idempotency_keys(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys WHERE expires_at < now() LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_password_resets(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM password_resets WHERE ctid = ANY (ARRAY(SELECT ctid FROM password_resets WHERE expires_at < now() - interval '1 day' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

DROP FUNCTION forget_revocations();
CREATE FUNCTION forget_revocations(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM revocations
            WHERE ctid = ANY (ARRAY(SELECT ctid FROM revocations WHERE expires_at < now() - interval '1 hour' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- A day after nothing of a session can be traded any more; the audit log tells of logins for good.
CREATE FUNCTION forget_sessions(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM sessions WHERE ctid = ANY (ARRAY(SELECT ctid FROM sessions WHERE expires_at < now() - interval '1 day' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- What a job did is in the records that it wrote; a failed one has its dead letter.
CREATE FUNCTION forget_jobs(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM jobs WHERE ctid = ANY (ARRAY(SELECT ctid FROM jobs WHERE status IN ('completed', 'failed') AND finished_at < now() - interval '7 days' LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE INDEX jobs_finished ON jobs (finished_at) WHERE status IN ('completed', 'failed');
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['forget_idempotency_keys(integer)', 'forget_jobs(integer)', 'forget_password_resets(integer)', 'forget_revocations(integer)', 'forget_sessions(integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
