-- Alerts: what a tenant wants to be told of its workbooks, each time that it was told, and the messages that this takes.

CREATE TABLE alerts (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    name             text NOT NULL,
    description      text,
    alert_type       text NOT NULL CHECK (alert_type IN ('threshold', 'compliance', 'trend', 'schedule')),
    conditions       json NOT NULL,  -- json, not jsonb: it is given back as it was written
    channels         json NOT NULL,  -- [{id, type, config}] as everybody may read it: what is secret is masked
    channel_secrets  text,           -- sealed: by channel the values that are masked
    workbook_id      uuid,           -- null: of every workbook of the tenant
    enabled          boolean NOT NULL,
    cooldown_minutes integer NOT NULL,
    last_triggered   timestamptz,
    trigger_count    integer NOT NULL DEFAULT 0,
    next_at          timestamptz,    -- when an enabled schedule is due next
    last_evaluation  jsonb,          -- what the last look came to
    created_by       text NOT NULL,
    version          integer NOT NULL DEFAULT 1,  -- of what users write; triggers change nothing of it
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CHECK (next_at IS NULL OR (enabled AND alert_type = 'schedule')),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX alerts_created ON alerts (tenant_id, created_at DESC, id);
CREATE INDEX alerts_watching ON alerts (tenant_id, workbook_id) WHERE enabled AND alert_type <> 'schedule';
CREATE INDEX alerts_due ON alerts (next_at) WHERE next_at IS NOT NULL;

-- A row each time that an alert triggered. What was sent is counted from the deliveries.
CREATE TABLE alert_history (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    alert_id     uuid NOT NULL,
    workbook_id  uuid,  -- what it was about: of an alert that concerns every workbook, too
    run_id       uuid,
    triggered_at timestamptz NOT NULL DEFAULT now(),
    metric_value double precision,
    details      jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, alert_id) REFERENCES alerts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX alert_history_of_alert ON alert_history (tenant_id, alert_id, triggered_at DESC, id);
CREATE INDEX alert_history_age ON alert_history (triggered_at);

-- One for each channel that the alert had. Its configuration is read when it is sent, by `channel_id`: a recipient that
-- was taken off is written to no more.
CREATE TABLE alert_deliveries (
    tenant_id       uuid NOT NULL,
    id              uuid NOT NULL,
    history_id      uuid NOT NULL,
    alert_id        uuid NOT NULL,
    channel_id      uuid NOT NULL,
    channel         text NOT NULL CHECK (channel IN ('email', 'webhook', 'chat_webhook', 'in_app')),
    sequence        bigint GENERATED ALWAYS AS IDENTITY,  -- the order of those of one channel
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
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (tenant_id, alert_id, channel_id, sequence) WHERE status = 'pending';

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['alerts', 'alert_history', 'alert_deliveries']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
CREATE POLICY definer ON alert_history TO cushion_definer USING (true);
GRANT SELECT, DELETE ON alert_history TO cushion_definer;

-- In another time zone schedules are due at other moments. This one is none of theirs, so whoever finds them due only
-- works out the next.
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

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end

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
REVOKE ALL ON FUNCTION forget_alert_history(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_alert_history(integer, integer) TO cushion_service;
ALTER FUNCTION forget_alert_history(integer, integer) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
