-- Documents: files that jobs create and that can be downloaded until they expire. Exports and reports are such jobs.

CREATE TABLE documents (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    id         uuid NOT NULL,
    name       text NOT NULL,  -- of the downloaded file
    media_type text NOT NULL,
    size_bytes bigint NOT NULL,
    blob_key   text,  -- null once its bytes are freed
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX documents_blob ON documents (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX documents_expiry ON documents (expires_at) WHERE blob_key IS NOT NULL;
ALTER TABLE documents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON documents TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON documents TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO cushion_service;
GRANT SELECT, UPDATE, DELETE ON documents TO cushion_definer;

CREATE TABLE exports (
    tenant_id       uuid NOT NULL,
    id              text NOT NULL,
    workbook_id     uuid NOT NULL,
    format          text NOT NULL CHECK (format IN ('xlsx', 'csv', 'json', 'pdf')),
    status          text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    options         json NOT NULL,  -- all of them, with defaults
    source          json NOT NULL,  -- what it exports, as it was at the request
    source_keys     text[],  -- blobs that it reads, which stay while it runs; null afterwards
    progress        json NOT NULL,
    document_id     uuid,
    sealed_id       uuid,  -- the sealed PDF beside it
    fingerprints_id uuid,  -- hashes of cells, to find what was changed in a file
    provenance      json,  -- for the verification of a file
    result_summary  json,
    error_details   text,
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    started_at      timestamptz,
    completed_at    timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK (source_keys IS NULL OR status IN ('pending', 'processing')),
    CHECK (document_id IS NOT NULL OR status <> 'completed'),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id),
    FOREIGN KEY (tenant_id, sealed_id) REFERENCES documents (tenant_id, id),
    FOREIGN KEY (tenant_id, fingerprints_id) REFERENCES documents (tenant_id, id)
);
CREATE INDEX exports_created ON exports (tenant_id, created_at DESC);
CREATE INDEX exports_of_workbook ON exports (tenant_id, workbook_id);
CREATE INDEX exports_in_work ON exports (tenant_id) WHERE source_keys IS NOT NULL;
CREATE INDEX exports_documents ON exports (tenant_id, document_id);
ALTER TABLE exports ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exports TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON exports TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON exports TO cushion_service;
GRANT SELECT, DELETE, SELECT (tenant_id, source_keys) ON exports TO cushion_definer;
CREATE TRIGGER exports_state AFTER UPDATE OF status, progress ON exports FOR EACH ROW
    WHEN ((OLD.status, OLD.progress::text) IS DISTINCT FROM (NEW.status, NEW.progress::text))
    EXECUTE FUNCTION announce_state();

CREATE TABLE reports (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            uuid NOT NULL,
    report_type   text NOT NULL CHECK (report_type IN ('compliance', 'reconciliation')),
    format        text NOT NULL CHECK (format IN ('pdf', 'xlsx')),
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'generating', 'completed', 'failed')),
    filename      text NOT NULL,
    workbook_id   uuid NOT NULL,
    run_id        uuid,  -- of a compliance report
    tape_id       text,
    job_id        text,  -- the comparison of a reconciliation report
    options       json NOT NULL,  -- all of them, with defaults
    document_id   uuid,
    error_details text,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    completed_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((report_type = 'compliance') = (run_id IS NOT NULL)),
    CHECK ((report_type = 'reconciliation') = (tape_id IS NOT NULL AND job_id IS NOT NULL)),
    CHECK ((status = 'completed') = (document_id IS NOT NULL)),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES compliance_runs (tenant_id, id),
    FOREIGN KEY (tenant_id, tape_id) REFERENCES tapes (tenant_id, id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES reconciliations (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id)
);
CREATE INDEX reports_created ON reports (tenant_id, created_at DESC);
CREATE INDEX reports_documents ON reports (tenant_id, document_id);
CREATE INDEX reports_runs ON reports (tenant_id, run_id) WHERE run_id IS NOT NULL;
ALTER TABLE reports ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reports TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON reports TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON reports TO cushion_service;
GRANT SELECT, DELETE ON reports TO cushion_definer;
CREATE TRIGGER reports_state AFTER UPDATE OF status ON reports FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_state();

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

CREATE FUNCTION forget_exports(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM exports WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM exports
                WHERE status IN ('completed', 'failed', 'cancelled') AND created_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_reports(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM reports WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM reports
                WHERE status IN ('completed', 'failed') AND created_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- Documents whose bytes are gone and that no export and no report has any more.
CREATE FUNCTION forget_documents(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM documents WHERE ctid = ANY (ARRAY(
                SELECT d.ctid FROM documents d
                WHERE d.blob_key IS NULL AND d.created_at < now() - make_interval(days => days)
                  AND NOT EXISTS (SELECT FROM reports r WHERE r.tenant_id = d.tenant_id AND r.document_id = d.id)
                  AND NOT EXISTS (SELECT FROM exports e WHERE e.tenant_id = d.tenant_id
                                  AND d.id IN (e.document_id, e.sealed_id, e.fingerprints_id)) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION forget_exports(integer, integer), forget_reports(integer, integer),
    forget_documents(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_exports(integer, integer), forget_reports(integer, integer),
    forget_documents(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
