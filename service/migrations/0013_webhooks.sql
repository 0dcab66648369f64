-- Notifications to users within the application, and webhooks: a tenant's addresses that receive its events.

CREATE TABLE notifications (
    tenant_id     uuid NOT NULL,
    id            uuid NOT NULL,
    user_id       uuid NOT NULL,
    type          text NOT NULL,
    priority      text NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    title         text NOT NULL,
    message       text NOT NULL,
    resource_type text,
    resource_id   text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    read_at       timestamptz,
    PRIMARY KEY (tenant_id, id, created_at),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
) PARTITION BY RANGE (created_at);
CREATE INDEX notifications_of_user ON notifications (tenant_id, user_id, created_at DESC, id);
CREATE INDEX notifications_unread ON notifications (tenant_id, user_id, created_at DESC, id) WHERE read_at IS NULL;
CREATE INDEX notifications_age ON notifications (created_at);
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON notifications TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO cushion_service;

CREATE TABLE webhooks (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    url              text NOT NULL,
    events           text[] NOT NULL,
    description      text,
    enabled          boolean NOT NULL,
    secret           text NOT NULL,  -- sealed
    secret_hint      text NOT NULL,
    old_secret       text,  -- sealed; signs beside the new one until old_secret_until
    old_secret_until timestamptz,
    failing_since    timestamptz,  -- first failed attempt since the last success
    last_delivery    jsonb,
    disabled_at      timestamptz,
    disabled_reason  text,
    created_by       text NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhooks TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON webhooks TO cushion_definer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO cushion_service;
GRANT SELECT (tenant_id, id, events, enabled) ON webhooks TO cushion_definer;

-- The queue of one webhook, in a row of its own. An event locks it under the lock of the audit log's head, so nothing
-- may wait for that head while it holds this row. Therefore neither queues nor deliveries have a foreign key to their
-- webhook; a job removes those of a deleted webhook.
CREATE TABLE webhook_queues (
    tenant_id   uuid NOT NULL,
    webhook_id  uuid NOT NULL,
    is_served   boolean NOT NULL DEFAULT false,  -- there is a job that delivers
    waiting     integer NOT NULL DEFAULT 0,      -- deliveries, or a few more; exact at 0
    passed_over bigint NOT NULL DEFAULT 0,       -- events that found the queue full
    PRIMARY KEY (tenant_id, webhook_id)
) WITH (fillfactor = 50);
ALTER TABLE webhook_queues ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_queues TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON webhook_queues TO cushion_definer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_queues TO cushion_service;
GRANT SELECT, UPDATE ON webhook_queues TO cushion_definer;

CREATE TABLE webhook_deliveries (
    tenant_id       uuid NOT NULL,
    id              uuid NOT NULL,
    webhook_id      uuid NOT NULL,
    sequence        bigserial,  -- no identity column: partitions have them from PostgreSQL 17 on
    message_id      text NOT NULL,  -- of the event: equal at each webhook, attempt and replay
    event           text NOT NULL,
    payload         text NOT NULL,  -- sent and signed, to the byte
    status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts        jsonb NOT NULL DEFAULT '[]',
    next_attempt_at timestamptz,
    error           text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    completed_at    timestamptz,
    PRIMARY KEY (tenant_id, id, created_at),
    CHECK ((status = 'pending') = (completed_at IS NULL))
) PARTITION BY RANGE (created_at);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (tenant_id, webhook_id, sequence)
    WHERE status = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (tenant_id, webhook_id, sequence DESC);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (completed_at) WHERE completed_at IS NOT NULL;
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_deliveries TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON webhook_deliveries TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries TO cushion_service;
GRANT SELECT, INSERT ON webhook_deliveries TO cushion_definer;
GRANT USAGE ON SEQUENCE webhook_deliveries_sequence_seq TO cushion_service, cushion_definer;

-- Queue an event of the audit log for the webhooks that want it, in the same transaction. It runs with the rights of
-- append_audit, under the lock of the tenant's chain, so deliveries have the order of the events.
CREATE FUNCTION tell_webhooks() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        told CONSTANT text := CASE NEW.action WHEN 'compliance.run_completed' THEN 'compliance.completed' ELSE NEW.action END;
        most CONSTANT integer := 10000;  -- deliveries that may wait for one webhook
        hook uuid;
        line webhook_queues;
    BEGIN
        FOR hook IN
            SELECT w.id FROM webhooks w
            WHERE w.tenant_id = NEW.tenant_id AND w.enabled AND told = ANY (w.events) ORDER BY w.id
        LOOP
            SELECT * INTO line FROM webhook_queues q WHERE q.tenant_id = NEW.tenant_id AND q.webhook_id = hook FOR UPDATE;
            CONTINUE WHEN NOT FOUND;  -- deleted meanwhile
            IF line.waiting >= most THEN
                UPDATE webhook_queues q SET passed_over = q.passed_over + 1
                WHERE q.tenant_id = NEW.tenant_id AND q.webhook_id = hook;
                CONTINUE;
            END IF;
            UPDATE webhook_queues q SET waiting = q.waiting + 1, is_served = true
            WHERE q.tenant_id = NEW.tenant_id AND q.webhook_id = hook;
            INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, message_id, event, payload)
            VALUES (NEW.tenant_id, gen_random_uuid(), hook, 'msg_' || replace(NEW.id::text, '-', ''), told,
                    json_build_object(
                        'type', told,
                        'timestamp', to_char(NEW.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                        'data', json_build_object(
                            'tenant_id', NEW.tenant_id,
                            'resource_type', NEW.resource_type,
                            'resource_id', NEW.resource_id,
                            'resource_name', NEW.resource_name,
                            'user_id', NEW.user_id,
                            'request_id', NEW.request_id,
                            -- receivers may limit what they read; long details are in the API
                            'details', CASE WHEN octet_length(NEW.details::text) <= 16384 THEN NEW.details END))::text);
            IF NOT line.is_served THEN
                INSERT INTO jobs (tenant_id, id, queue, name, arguments, request_id)
                VALUES (NEW.tenant_id, 'task_' || replace(gen_random_uuid()::text, '-', ''), 'webhooks',
                        'webhooks.deliver', jsonb_build_object('webhook_id', hook), NEW.request_id);
            END IF;
        END LOOP;
        RETURN NULL;
    END
    $$;

CREATE TRIGGER audit_log_webhooks AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action IN ('workbook.uploaded', 'calculation.completed', 'compliance.run_completed', 'alert.triggered'))
    EXECUTE FUNCTION tell_webhooks();
