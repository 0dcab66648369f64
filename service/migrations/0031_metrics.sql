-- Figures of the queues for whoever watches them, and the trace that a job belongs to.

ALTER TABLE jobs ADD COLUMN traceparent text CHECK (length(traceparent) <= 55);  -- as W3C Trace Context writes it

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end
CREATE FUNCTION queue_figures()
    RETURNS TABLE (queue text, due bigint, later bigint, running bigint, oldest_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT j.queue,
               count(*) FILTER (WHERE j.status <> 'running' AND j.ready_at <= now()),
               count(*) FILTER (WHERE j.status <> 'running' AND j.ready_at > now()),
               count(*) FILTER (WHERE j.status = 'running'),
               coalesce(extract(epoch FROM now() - min(j.ready_at) FILTER (WHERE j.status <> 'running' AND j.ready_at <= now())), 0)
        FROM jobs j WHERE j.status IN ('pending', 'queued', 'running') GROUP BY j.queue
    $$;
REVOKE ALL ON FUNCTION queue_figures() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_figures() TO cushion_service;
ALTER FUNCTION queue_figures() OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
