-- Alerts: what users want to be told of their workbooks, each time it happened, and the messages sent.

CREATE TABLE alerts (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    name             text NOT NULL,
    description      text,
    alert_type       text NOT NULL CHECK (alert_type IN ('threshold', 'compliance', 'trend', 'schedule')),
    conditions       json NOT NULL,  -- json, not jsonb: returned as it was written
    channels         json NOT NULL,  -- [{id, type, config}], secrets masked
    channel_secrets  text,           -- sealed: the masked values by channel
    workbook_id      uuid,           -- null: all workbooks of the tenant
    enabled          boolean NOT NULL,
    cooldown_minutes integer NOT NULL,
    last_triggered   timestamptz,
    trigger_count    integer NOT NULL DEFAULT 0,
    next_at          timestamptz,    -- when an enabled schedule is next due
    last_evaluation  jsonb,          -- outcome of the last evaluation
    created_by       text NOT NULL,
    version          integer NOT NULL DEFAULT 1,  -- of what users write; a triggered alert keeps it
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CHECK (next_at IS NULL OR (enabled AND alert_type = 'schedule')),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
) WITH (fillfactor = 60);  -- each evaluation rewrites a row, in its page if there is room
CREATE INDEX alerts_created ON alerts (tenant_id, created_at DESC, id);
CREATE INDEX alerts_watching ON alerts (tenant_id, workbook_id) WHERE enabled AND alert_type <> 'schedule';
CREATE INDEX alerts_due ON alerts (next_at) WHERE next_at IS NOT NULL;
ALTER TABLE alerts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON alerts TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON alerts TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON alerts TO cushion_service;
GRANT SELECT (tenant_id, id, alert_type, workbook_id, enabled, next_at) ON alerts TO cushion_definer;

-- A row for each time that an alert triggered. Deliveries count what was sent.
CREATE TABLE alert_history (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    alert_id     uuid NOT NULL,
    workbook_id  uuid,  -- also of an alert for all workbooks
    run_id       uuid,
    triggered_at timestamptz NOT NULL DEFAULT now(),
    metric_value double precision,
    details      jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, alert_id) REFERENCES alerts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX alert_history_of_alert ON alert_history (tenant_id, alert_id, triggered_at DESC, id);
CREATE INDEX alert_history_age ON alert_history (triggered_at);
ALTER TABLE alert_history ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON alert_history TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON alert_history TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_history TO cushion_service;
GRANT SELECT, DELETE ON alert_history TO cushion_definer;

-- One for each channel of the alert. The channel's configuration is read when the message is sent, so a removed
-- recipient gets no more of them.
CREATE TABLE alert_deliveries (
    tenant_id       uuid NOT NULL,
    id              uuid NOT NULL,
    history_id      uuid NOT NULL,
    alert_id        uuid NOT NULL,
    channel_id      uuid NOT NULL,
    channel         text NOT NULL CHECK (channel IN ('email', 'webhook', 'chat_webhook', 'in_app')),
    sequence        bigint GENERATED ALWAYS AS IDENTITY,  -- order within a channel
    status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts        jsonb NOT NULL DEFAULT '[]',
    next_attempt_at timestamptz,
    error           text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    completed_at    timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((status = 'pending') = (completed_at IS NULL)),
    FOREIGN KEY (tenant_id, history_id) REFERENCES alert_history (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX alert_deliveries_of_history ON alert_deliveries (tenant_id, history_id, sequence);
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (tenant_id, alert_id, channel_id, sequence)
    WHERE status = 'pending';
ALTER TABLE alert_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON alert_deliveries TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_deliveries TO cushion_service;

-- Figures of a recalculated workbook. Those of a run are kept with the run. Trends and durations read both.
CREATE TABLE alert_figures (
    tenant_id   uuid NOT NULL,
    workbook_id uuid NOT NULL,
    at          timestamptz NOT NULL,
    as_of       date NOT NULL,
    figures     jsonb NOT NULL,  -- by test, as in compliance_runs
    PRIMARY KEY (tenant_id, workbook_id, at),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX alert_figures_age ON alert_figures (at);
ALTER TABLE alert_figures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON alert_figures TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON alert_figures TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_figures TO cushion_service;
GRANT SELECT, DELETE ON alert_figures TO cushion_definer;

-- After a change of the tenant's time zone its schedules are due at other moments. Set them due now: whoever finds one
-- due at a moment that is not its own works out the next moment, and does nothing else.
CREATE FUNCTION move_schedules() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        UPDATE alerts a SET next_at = now() WHERE a.tenant_id = NEW.id AND a.next_at IS NOT NULL;
        RETURN NULL;
    END
    $$;
CREATE TRIGGER tenants_time_zone AFTER UPDATE OF settings ON tenants FOR EACH ROW
    WHEN ((OLD.settings ->> 'timezone') IS DISTINCT FROM (NEW.settings ->> 'timezone'))
    EXECUTE FUNCTION move_schedules();

-- Start an evaluation when an event concerns a workbook with alerts: its own, those of other workbooks of its deal, or
-- of the whole tenant. It runs with the rights of append_audit and costs one look at an index where there are none. It
-- never refuses an event.
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
    WHEN (NEW.action = 'compliance.run_completed'
          OR (NEW.action = 'calculation.completed' AND NEW.resource_type = 'workbook'))
    EXECUTE FUNCTION watch_alerts();

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- Schedules that are due. The caller locks each in its tenant's own transaction and writes when it is next due.
CREATE FUNCTION due_alerts(most integer) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT a.tenant_id, a.id FROM alerts a JOIN tenants t ON t.id = a.tenant_id
        WHERE a.next_at <= now() AND t.status = 'active' ORDER BY a.next_at LIMIT most
    $$;

CREATE FUNCTION forget_alert_history(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM alert_history WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM alert_history WHERE triggered_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
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

REVOKE ALL ON FUNCTION due_alerts(integer), forget_alert_history(integer, integer),
    forget_alert_figures(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_alerts(integer), forget_alert_history(integer, integer),
    forget_alert_figures(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
