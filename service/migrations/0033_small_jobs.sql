-- Small jobs, which the API works on itself while no worker does.

ALTER TABLE jobs ADD COLUMN small boolean NOT NULL DEFAULT false;  -- whoever wrote it knew how much work it is
CREATE INDEX jobs_small ON jobs (ready_at) WHERE small AND status IN ('pending', 'queued');

GRANT CREATE ON SCHEMA public TO cushion_definer;

-- What was handed over to a queue that nobody reads is taken, too: should that hand-over come late, it finds another attempt.
-- Whose jobs run least comes first.
CREATE FUNCTION claim_small_jobs(most integer, lease_seconds integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j
        SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
        FROM (
            SELECT w.tenant_id, w.id FROM jobs w
            WHERE w.small AND w.status IN ('pending', 'queued') AND w.ready_at <= now()
            ORDER BY (SELECT count(*) FROM jobs r WHERE r.tenant_id = w.tenant_id AND r.status = 'running'), w.ready_at
            LIMIT most FOR UPDATE SKIP LOCKED
        ) chosen
        WHERE j.tenant_id = chosen.tenant_id AND j.id = chosen.id
        RETURNING j.tenant_id, j.id, j.queue, j.attempt
    $$;

-- Jobs that are due: small ones, and others.
CREATE FUNCTION jobs_due(OUT small bigint, OUT large bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT count(*) FILTER (WHERE j.small), count(*) FILTER (WHERE NOT j.small)
        FROM jobs j WHERE j.status IN ('pending', 'queued') AND j.ready_at <= now()
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['claim_small_jobs(integer, integer)', 'jobs_due()']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
