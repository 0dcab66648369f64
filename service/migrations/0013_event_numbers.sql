-- Which of the events that processes numbered have arrived in the audit log, so that one that was lost on its way is seen.

CREATE TABLE event_numbers (
    tenant_id  uuid NOT NULL,
    source     uuid NOT NULL,    -- a process of the service, for as long as it keeps count of the tenant
    highest    bigint NOT NULL,  -- that it is known to have given; it counts from 1
    arrived    int8multirange NOT NULL DEFAULT '{}',  -- in the audit log, or told there as missing
    suspect    int8multirange NOT NULL DEFAULT '{}',  -- had not arrived at suspect_at
    suspect_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source)
);
CREATE INDEX event_numbers_open ON event_numbers (tenant_id, source) WHERE arrived <> int8multirange(int8range(1, highest, '[]'));
CREATE INDEX event_numbers_age ON event_numbers (changed_at);

ALTER TABLE event_numbers ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_numbers FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON event_numbers TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE ON event_numbers TO cushion_service;
CREATE POLICY definer ON event_numbers TO cushion_definer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON event_numbers TO cushion_definer;

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

-- A process tells how far it has counted: a JSON array of objects with tenant_id, source and highest.
CREATE FUNCTION tell_event_numbers(counts json) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        INSERT INTO event_numbers AS known (tenant_id, source, highest)
        SELECT tenant_id, source, highest
        FROM json_to_recordset(counts) AS told (tenant_id uuid, source uuid, highest bigint)
        ORDER BY tenant_id, source
        ON CONFLICT (tenant_id, source) DO UPDATE
        SET highest = greatest(known.highest, excluded.highest), changed_at = now()
    $$;

-- Note what has not arrived; whose events have been missing for so long, and since before the oldest one that still waits.
CREATE FUNCTION suspect_events(seconds integer, waiting_since timestamptz) RETURNS TABLE (tenant_id uuid, source uuid)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE event_numbers n
        SET suspect = int8multirange(int8range(1, n.highest, '[]')) - n.arrived, suspect_at = now()
        WHERE n.arrived <> int8multirange(int8range(1, n.highest, '[]')) AND isempty(n.suspect - n.arrived);

        SELECT n.tenant_id, n.source FROM event_numbers n
        WHERE n.arrived <> int8multirange(int8range(1, n.highest, '[]'))
          AND NOT isempty(n.suspect - n.arrived) AND n.suspect_at < least(now() - make_interval(secs => seconds), waiting_since)
    $$;

-- A week after its last event nothing of a process is on its way any more.
CREATE FUNCTION forget_event_numbers(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM event_numbers WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM event_numbers
                WHERE changed_at < now() - interval '7 days' AND arrived = int8multirange(int8range(1, highest, '[]'))
                LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tell_event_numbers(json)', 'suspect_events(integer, timestamptz)', 'forget_event_numbers(integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
