-- What sets alerts going: an event that enters the audit log, a schedule that is due; and what a recalculation gave.

-- Figures of a workbook that was recalculated: a run's are kept with the run. Trends and durations go by both.
CREATE TABLE alert_figures (
    tenant_id   uuid NOT NULL,
    workbook_id uuid NOT NULL,
    at          timestamptz NOT NULL,
    as_of       date NOT NULL,
    figures     jsonb NOT NULL,  -- by test, as those of a run
    PRIMARY KEY (tenant_id, workbook_id, at),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX alert_figures_age ON alert_figures (at);
ALTER TABLE alert_figures ENABLE ROW LEVEL SECURITY;
ALTER TABLE alert_figures FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON alert_figures TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON alert_figures TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_figures TO cushion_service;
GRANT SELECT, DELETE ON alert_figures TO cushion_definer;

ALTER TABLE alerts SET (fillfactor = 60);  -- each look rewrites a row, which touches no index where its page has room

CREATE POLICY definer ON alerts TO cushion_definer USING (true);
GRANT SELECT (tenant_id, id, workbook_id, enabled, alert_type, next_at) ON alerts TO cushion_definer;

-- Alerts of the workbook, of others of its deal, and of the whole tenant. Runs as append_audit does: whoever watches
-- nothing pays one look at an index. No event is kept out of the log for what it names.
CREATE FUNCTION watch_alerts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        is_run CONSTANT boolean := NEW.action = 'compliance.run_completed';
        named CONSTANT text := CASE WHEN is_run THEN NEW.details ->> 'workbook_id' ELSE NEW.resource_id END;
        looked_at CONSTANT uuid := CASE WHEN named ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN named END;
    BEGIN
        IF looked_at IS NOT NULL AND EXISTS (
            SELECT FROM alerts a
            WHERE a.tenant_id = NEW.tenant_id AND a.enabled AND a.alert_type <> 'schedule'
              AND (a.workbook_id IS NULL OR a.workbook_id = looked_at OR EXISTS (
                  SELECT FROM workbooks one JOIN workbooks other
                      ON other.tenant_id = one.tenant_id AND other.deal_id = one.deal_id
                  WHERE one.tenant_id = NEW.tenant_id AND one.id = looked_at AND other.id = a.workbook_id)))
        THEN
            INSERT INTO jobs (tenant_id, id, queue, name, arguments, request_id)
            VALUES (NEW.tenant_id, 'task_' || replace(gen_random_uuid()::text, '-', ''), 'default', 'alerts.evaluate',
                    jsonb_build_object('workbook_id', looked_at, 'run_id', CASE WHEN is_run THEN NEW.resource_id END),
                    NEW.request_id);
        END IF;
        RETURN NULL;
    END
    $$;

CREATE TRIGGER audit_log_alerts AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action = 'compliance.run_completed' OR (NEW.action = 'calculation.completed' AND NEW.resource_type = 'workbook'))
    EXECUTE FUNCTION watch_alerts();

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

-- Only named here: who hands one over locks it in its tenant's own transaction, and writes when it is due next.
CREATE FUNCTION due_alerts(most integer) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT a.tenant_id, a.id FROM alerts a JOIN tenants t ON t.id = a.tenant_id
        WHERE a.next_at <= now() AND t.status = 'active' ORDER BY a.next_at LIMIT most
    $$;

CREATE FUNCTION forget_alert_figures(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM alert_figures WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM alert_figures WHERE at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['due_alerts(integer)', 'forget_alert_figures(integer, integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
