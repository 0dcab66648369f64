-- What has had its time is forgotten: by functions, since it is everybody's.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

CREATE POLICY definer ON idempotency_keys TO cushion_definer USING (true);
CREATE POLICY definer ON sessions TO cushion_definer USING (true);
GRANT SELECT, DELETE ON idempotency_keys, sessions, password_resets TO cushion_definer;
GRANT DELETE ON jobs TO cushion_definer;

CREATE FUNCTION forget_idempotency_keys() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ DELETE FROM idempotency_keys WHERE expires_at < now() $$;

CREATE FUNCTION forget_password_resets() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ DELETE FROM password_resets WHERE expires_at < now() - interval '1 day' $$;

-- A day after nothing of a session can be traded any more; the audit log tells of logins for good.
CREATE FUNCTION forget_sessions() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ DELETE FROM sessions WHERE expires_at < now() - interval '1 day' $$;

-- What a job did is in the records that it wrote; a failed one has its dead letter.
CREATE FUNCTION forget_jobs() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ DELETE FROM jobs WHERE status IN ('completed', 'failed') AND finished_at < now() - interval '7 days' $$;

CREATE INDEX jobs_finished ON jobs (finished_at) WHERE status IN ('completed', 'failed');
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['forget_idempotency_keys()', 'forget_jobs()', 'forget_password_resets()', 'forget_sessions()']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
