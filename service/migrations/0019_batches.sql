-- Batches: a suite on many workbooks, in the background. Each run is a row of compliance_runs.

CREATE TABLE batches (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            uuid NOT NULL,
    name          text NOT NULL,
    format        text NOT NULL CHECK (format IN ('csv', 'parquet', 'jsonl')),
    status        text NOT NULL DEFAULT 'pending'
                  CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    request       json NOT NULL,  -- what each run is asked for, with defaults
    total         integer NOT NULL,
    done          integer NOT NULL DEFAULT 0,
    refused       integer NOT NULL DEFAULT 0,
    passed        integer NOT NULL DEFAULT 0,  -- tests of all runs; so are the next four
    failed        integer NOT NULL DEFAULT 0,
    warnings      integer NOT NULL DEFAULT 0,
    skipped       integer NOT NULL DEFAULT 0,
    doubtful      integer NOT NULL DEFAULT 0,
    document_id   uuid,  -- the result file; null until it is written, and once its record is gone
    error_details text,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    started_at    timestamptz,
    completed_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK (done + refused <= total),
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE SET NULL (document_id)
);
CREATE INDEX batches_created ON batches (tenant_id, created_at DESC, id);
CREATE INDEX batches_in_work ON batches (tenant_id) WHERE status IN ('pending', 'running');
CREATE INDEX batches_documents ON batches (tenant_id, document_id) WHERE document_id IS NOT NULL;
ALTER TABLE batches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON batches TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON batches TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON batches TO cushion_service;
GRANT DELETE, SELECT (tenant_id, document_id) ON batches TO cushion_definer;
CREATE TRIGGER batches_state AFTER UPDATE OF status, done, refused ON batches FOR EACH ROW
    WHEN ((OLD.status, (OLD.done + OLD.refused) * 100 / OLD.total)
          IS DISTINCT FROM (NEW.status, (NEW.done + NEW.refused) * 100 / NEW.total))
    EXECUTE FUNCTION announce_state();

-- The workbooks of a batch. A run is written with its item's end, so a workbook is run once, however often its job is.
-- The audit log has one entry for all runs of a batch, with a hash over their entries, which are here.
CREATE TABLE batch_items (
    tenant_id   uuid NOT NULL,
    batch_id    uuid NOT NULL,
    position    integer NOT NULL,  -- in the request, from 0
    deal        text NOT NULL,     -- name of the deal, or of a workbook without one, at the request
    deal_id     uuid,              -- where the request named the deal
    workbook_id uuid,              -- null: the deal had none
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'refused')),
    attempts    integer NOT NULL DEFAULT 0,  -- turns that began
    run_id      uuid,
    entry       text,              -- JSON: what the audit log would say of the run
    step        text CHECK (step IN ('read', 'suite')),  -- at which it was refused
    reason      text,
    PRIMARY KEY (tenant_id, batch_id, position),
    CONSTRAINT batch_items_once UNIQUE (tenant_id, batch_id, workbook_id),
    CHECK ((status = 'done') = (run_id IS NOT NULL AND entry IS NOT NULL)),
    CHECK ((status = 'refused') = (reason IS NOT NULL AND step IS NOT NULL)),
    FOREIGN KEY (tenant_id, batch_id) REFERENCES batches (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX batch_items_pending ON batch_items (tenant_id, batch_id, position) WHERE status = 'pending';
CREATE INDEX batch_items_workbooks ON batch_items (tenant_id, workbook_id);
CREATE UNIQUE INDEX batch_items_runs ON batch_items (tenant_id, run_id) WHERE run_id IS NOT NULL;
ALTER TABLE batch_items ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON batch_items TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON batch_items TO cushion_service;

-- Start one evaluation of all alerts that concern workbooks of a batch, once it has ended. As watch_alerts, it runs with
-- the rights of append_audit.
CREATE FUNCTION watch_batch_alerts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF EXISTS (SELECT FROM alerts a WHERE a.tenant_id = NEW.tenant_id AND a.enabled AND a.alert_type <> 'schedule') THEN
            INSERT INTO jobs (tenant_id, id, queue, name, arguments, request_id)
            VALUES (NEW.tenant_id, 'task_' || replace(gen_random_uuid()::text, '-', ''), 'default',
                    'alerts.evaluate_batch', jsonb_build_object('batch_id', NEW.resource_id), NEW.request_id);
        END IF;
        RETURN NULL;
    END
    $$;
CREATE TRIGGER audit_log_batch_alerts AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action IN ('batch.completed', 'batch.failed', 'batch.cancelled') AND NEW.resource_type = 'batch')
    EXECUTE FUNCTION watch_batch_alerts();
CREATE TRIGGER audit_log_batch_webhooks AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action = 'batch.completed') EXECUTE FUNCTION tell_webhooks();

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- As in 0018_retention, and the batches: their items prove the runs, so they stay as long.
CREATE OR REPLACE FUNCTION forget_tenant(most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        tenant CONSTANT uuid := current_tenant();
        gone bigint;
    BEGIN
        IF NOT EXISTS (SELECT FROM tenants t WHERE t.id = tenant AND t.status = 'cancelled' AND t.emptied_at IS NOT NULL
                       AND t.evidence_until <= now()
                       AND NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = t.id)) THEN
            RAISE EXCEPTION 'the tenant has evidence' USING ERRCODE = 'insufficient_privilege';
        END IF;
        DELETE FROM audit_log WHERE (tableoid, ctid) IN (
            SELECT l.tableoid, l.ctid FROM audit_log l WHERE l.tenant_id = tenant ORDER BY l.sequence LIMIT most);
        GET DIAGNOSTICS gone = ROW_COUNT;
        IF gone = 0 THEN
            DELETE FROM audit_heads h WHERE h.tenant_id = tenant;
            DELETE FROM event_numbers n WHERE n.tenant_id = tenant;
            DELETE FROM tenant_usage u WHERE u.tenant_id = tenant;
            DELETE FROM batches b WHERE b.tenant_id = tenant;
            DELETE FROM workbooks w WHERE w.tenant_id = tenant;
            DELETE FROM stream_profiles p WHERE p.tenant_id = tenant;
            DELETE FROM evidence_sheets s WHERE s.tenant_id = tenant;
            DELETE FROM evidence_books b WHERE b.tenant_id = tenant;
            DELETE FROM users u WHERE u.tenant_id = tenant;
        END IF;
        RETURN gone;
    END
    $$;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
