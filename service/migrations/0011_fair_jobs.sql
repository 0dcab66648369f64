-- Jobs are handed over in turn between tenants, a few of each tenant and queue at a time; the end of one makes room for
-- the next.

DROP FUNCTION claim_jobs(integer, integer);
CREATE INDEX jobs_pending ON jobs (tenant_id, queue, ready_at) WHERE status = 'pending';

-- One after the other: two at once would want the same rows, and each could hold what the other waits for.
CREATE FUNCTION claim_jobs(most integer, lease_seconds integer, of_each integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('claim_jobs', 0));
        RETURN QUERY
            WITH taken AS (
                SELECT j.tenant_id, j.queue, count(*) AS jobs FROM jobs j WHERE j.status IN ('queued', 'running')
                GROUP BY j.tenant_id, j.queue
            ), waiting AS (
                SELECT DISTINCT j.tenant_id, j.queue FROM jobs j WHERE j.status = 'pending' AND j.ready_at <= now()
            ), chosen AS (
                SELECT first.tenant_id, first.id
                FROM waiting LEFT JOIN taken USING (tenant_id, queue) CROSS JOIN LATERAL (
                    SELECT j.tenant_id, j.id, j.ready_at,
                           coalesce(taken.jobs, 0) + row_number() OVER (ORDER BY j.ready_at) AS turn
                    FROM jobs j
                    WHERE j.tenant_id = waiting.tenant_id AND j.queue = waiting.queue
                      AND j.status = 'pending' AND j.ready_at <= now()
                    ORDER BY j.ready_at LIMIT greatest(of_each - coalesce(taken.jobs, 0), 0)
                ) AS first
                ORDER BY first.turn, first.ready_at LIMIT most
            )
            UPDATE jobs j
            SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
            FROM chosen WHERE j.tenant_id = chosen.tenant_id AND j.id = chosen.id AND j.status = 'pending'
            RETURNING j.tenant_id, j.id, j.queue, j.attempt;
    END
    $$;

REVOKE ALL ON FUNCTION claim_jobs(integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_jobs(integer, integer, integer) TO cushion_service;
GRANT CREATE ON SCHEMA public TO cushion_definer;
ALTER FUNCTION claim_jobs(integer, integer, integer) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;

CREATE TRIGGER jobs_announce_end AFTER UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IN ('queued', 'running') AND NEW.status NOT IN ('queued', 'running'))
    EXECUTE FUNCTION announce_job();
