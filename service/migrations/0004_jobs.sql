-- Background jobs: the outbox and the record of all background work, and the dead letters of failed jobs.

-- Wake the workers of a queue, at a new job and at the end of one, which makes room for the next.
CREATE FUNCTION announce_job() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_jobs', NEW.queue); RETURN NULL; END $$;

CREATE TABLE jobs (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    id           text NOT NULL,
    queue        text NOT NULL CHECK (queue IN ('default', 'calculate', 'parse', 'priority', 'export', 'webhooks')),
    name         text NOT NULL,
    arguments    jsonb NOT NULL,
    request_id   text,
    status       text NOT NULL DEFAULT 'pending'
                 CHECK (status IN ('pending', 'queued', 'running', 'completed', 'failed')),
    attempt      integer NOT NULL DEFAULT 0,  -- only the current attempt may finish the job
    failures     integer NOT NULL DEFAULT 0,  -- attempts that raised, or whose worker went silent
    ready_at     timestamptz NOT NULL DEFAULT now(),  -- pending: not before this moment
    lease_until  timestamptz,                         -- queued or running: lost if silent until then
    error        text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    asked_by     jsonb NOT NULL DEFAULT '{}',  -- user_id, user_email, api_key_id, for its audit entries
    traceparent  text CHECK (length(traceparent) <= 55),  -- as W3C Trace Context writes it
    small        boolean NOT NULL DEFAULT false,  -- the API may do it while no worker runs
    started_at   timestamptz,  -- of the last attempt
    PRIMARY KEY (tenant_id, id, created_at)
) PARTITION BY RANGE (created_at);
CREATE INDEX jobs_open ON jobs (status, ready_at) WHERE status IN ('pending', 'queued', 'running');
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE status IN ('completed', 'failed');
CREATE INDEX jobs_pending ON jobs (tenant_id, queue, ready_at) WHERE status = 'pending';
CREATE INDEX jobs_small ON jobs (ready_at) WHERE small AND status IN ('pending', 'queued');
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON jobs TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON jobs TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO cushion_service;
GRANT SELECT, INSERT, UPDATE ON jobs TO cushion_definer;
CREATE TRIGGER jobs_announce AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION announce_job();
CREATE TRIGGER jobs_announce_end AFTER UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IN ('queued', 'running') AND NEW.status NOT IN ('queued', 'running'))
    EXECUTE FUNCTION announce_job();
-- A queued job is shown as pending, so that step is no change.
CREATE TRIGGER jobs_state AFTER UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued') EXECUTE FUNCTION announce_state();

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
    status            text NOT NULL DEFAULT 'pending_review'
                      CHECK (status IN ('pending_review', 'retried', 'resolved', 'discarded')),
    retry_count       integer NOT NULL DEFAULT 0,  -- of this work, earlier dead letters included
    last_retry_at     timestamptz,
    retry_task_id     text,
    resolved_at       timestamptz,
    resolution_notes  text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX dead_letters_id ON dead_letters (id);
CREATE INDEX dead_letters_task ON dead_letters (original_task_id);
CREATE INDEX dead_letters_retry ON dead_letters (tenant_id, retry_task_id) WHERE retry_task_id IS NOT NULL;
CREATE INDEX dead_letters_time ON dead_letters (tenant_id, failed_at DESC);
CREATE INDEX dead_letters_everywhere ON dead_letters (failed_at DESC);
ALTER TABLE dead_letters ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dead_letters TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON dead_letters TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO cushion_service;
GRANT SELECT, DELETE ON dead_letters TO cushion_definer;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- For operators, who see the dead letters of all tenants. A view, so that indexes serve a page of it. It reads with its
-- owner's rights, and nothing can be changed through it.
CREATE VIEW every_dead_letter AS SELECT * FROM dead_letters;
REVOKE ALL ON every_dead_letter FROM cushion_definer;
GRANT SELECT ON every_dead_letter TO cushion_service;

-- Hand pending jobs to their queues, in turn between tenants, at most `of_each` for a tenant and queue. Two claims at
-- once would wait for each other's rows, so they run one by one. Jobs of a cancelled tenant wait.
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
                SELECT w.tenant_id, w.queue
                FROM (SELECT DISTINCT j.tenant_id, j.queue FROM jobs j
                      WHERE j.status = 'pending' AND j.ready_at <= now()) AS w
                JOIN tenants t ON t.id = w.tenant_id WHERE t.status <> 'cancelled'
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

-- Take small jobs for the API. A job that waits in a queue without a worker is taken too: a late worker then finds a
-- newer attempt. Tenants with the fewest running jobs come first.
CREATE FUNCTION claim_small_jobs(most integer, lease_seconds integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j
        SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
        FROM (
            SELECT w.tenant_id, w.id FROM jobs w
            WHERE w.small AND w.status IN ('pending', 'queued') AND w.ready_at <= now()
              AND NOT EXISTS (SELECT FROM tenants t WHERE t.id = w.tenant_id AND t.status = 'cancelled')
            ORDER BY (SELECT count(*) FROM jobs r WHERE r.tenant_id = w.tenant_id AND r.status = 'running'), w.ready_at
            LIMIT most FOR UPDATE SKIP LOCKED
        ) chosen
        WHERE j.tenant_id = chosen.tenant_id AND j.id = chosen.id
        RETURNING j.tenant_id, j.id, j.queue, j.attempt
    $$;

-- Set silent jobs back to pending; with `queues_lost` (Redis was flushed) also those that waited in queues.
CREATE FUNCTION reap_jobs(queues_lost boolean) RETURNS TABLE (id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j SET status = 'pending', ready_at = now(), lease_until = NULL,
                          failures = j.failures + (j.status = 'running')::integer
        WHERE (j.status IN ('queued', 'running') AND j.lease_until < now()) OR (queues_lost AND j.status = 'queued')
        RETURNING j.id, j.queue, j.attempt
    $$;

-- Whether there is anything to claim or to reap: an idle worker asks every second.
CREATE FUNCTION jobs_wait() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM jobs j WHERE j.status = 'pending' AND j.ready_at <= now())
            OR EXISTS (SELECT FROM jobs j WHERE j.status IN ('queued', 'running') AND j.lease_until < now())
    $$;

-- Count the jobs that are due, small ones and others.
CREATE FUNCTION jobs_due(OUT small bigint, OUT large bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT count(*) FILTER (WHERE j.small), count(*) FILTER (WHERE NOT j.small)
        FROM jobs j JOIN tenants t ON t.id = j.tenant_id
        WHERE j.status IN ('pending', 'queued') AND j.ready_at <= now() AND t.status <> 'cancelled'
    $$;

CREATE FUNCTION queue_depths() RETURNS TABLE (queue text, depth bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT j.queue, count(*) FROM jobs j WHERE j.status IN ('pending', 'queued') GROUP BY j.queue $$;

CREATE FUNCTION queue_figures()
    RETURNS TABLE (queue text, due bigint, later bigint, running bigint, oldest_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT j.queue,
               count(*) FILTER (WHERE j.status <> 'running' AND j.ready_at <= now()),
               count(*) FILTER (WHERE j.status <> 'running' AND j.ready_at > now()),
               count(*) FILTER (WHERE j.status = 'running'),
               coalesce(extract(epoch FROM now() - min(j.ready_at)
                                FILTER (WHERE j.status <> 'running' AND j.ready_at <= now())), 0)
        FROM jobs j WHERE j.status IN ('pending', 'queued', 'running') GROUP BY j.queue
    $$;

-- Settled dead letters. One that waits for a review stays.
CREATE FUNCTION forget_dead_letters(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM dead_letters WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM dead_letters
                WHERE status IN ('retried', 'resolved', 'discarded')
                  AND greatest(failed_at, last_retry_at, resolved_at) < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION claim_jobs(integer, integer, integer), claim_small_jobs(integer, integer), reap_jobs(boolean),
    jobs_wait(), jobs_due(), queue_depths(), queue_figures(), forget_dead_letters(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_jobs(integer, integer, integer), claim_small_jobs(integer, integer),
    reap_jobs(boolean), jobs_wait(), jobs_due(), queue_depths(), queue_figures(),
    forget_dead_letters(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
