-- Whether a look at the jobs would find any to hand over or to take back: what an idle worker asks every second.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end
CREATE FUNCTION jobs_wait() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM jobs j WHERE j.status = 'pending' AND j.ready_at <= now())
            OR EXISTS (SELECT FROM jobs j WHERE j.status IN ('queued', 'running') AND j.lease_until < now())
    $$;
REVOKE ALL ON FUNCTION jobs_wait() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION jobs_wait() TO cushion_service;
ALTER FUNCTION jobs_wait() OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
