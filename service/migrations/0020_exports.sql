-- Documents: files that jobs make, given out until they expire. Exports: jobs whose product is a document.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the function below; revoked at the end

CREATE TABLE documents (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    id         uuid NOT NULL,
    name       text NOT NULL,  -- as whoever downloads it finds it
    media_type text NOT NULL,
    size_bytes bigint NOT NULL,
    blob_key   text,  -- null once its bytes are given up
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX documents_blob ON documents (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX documents_expiry ON documents (expires_at) WHERE blob_key IS NOT NULL;

CREATE TABLE exports (
    tenant_id       uuid NOT NULL,
    id              text NOT NULL,
    workbook_id     uuid NOT NULL,
    format          text NOT NULL CHECK (format IN ('xlsx', 'csv', 'json', 'pdf')),
    status          text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    options         json NOT NULL,  -- all of them, as the export goes by them
    source          json NOT NULL,  -- what it is made of, as it was when it was asked for
    source_keys     text[],  -- the stored columns that it reads, which stay while it is in work; null from then on
    progress        json NOT NULL,
    document_id     uuid,
    sealed_id       uuid,  -- the sealed PDF beside it
    fingerprints_id uuid,  -- by which a changed file's cells can be told
    provenance      json,  -- what a file is verified by
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

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['documents', 'exports']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('CREATE POLICY definer ON %I TO cushion_definer USING (true)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
GRANT SELECT, UPDATE ON documents TO cushion_definer;
GRANT SELECT (tenant_id, source_keys) ON exports TO cushion_definer;

CREATE OR REPLACE VIEW named_blobs WITH (security_invoker = true) AS
    WITH kept AS NOT MATERIALIZED (
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size FROM workbooks w
        WHERE w.deleted_at IS NULL
           OR EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = w.tenant_id AND r.workbook_id = w.id)
    )
    SELECT k.tenant_id, k.content_hash AS key, k.file_size AS size_bytes FROM kept k
    UNION ALL
    SELECT f.tenant_id, f.content_hash, f.file_size FROM workbook_files f
    JOIN kept k ON k.tenant_id = f.tenant_id AND k.id = f.workbook_id
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL FROM sheets s JOIN kept k ON k.tenant_id = s.tenant_id AND k.id = s.workbook_id
    WHERE s.blob_key IS NOT NULL
    UNION ALL
    SELECT t.tenant_id, t.content_hash, t.file_size FROM tapes t
    UNION ALL
    SELECT t.tenant_id, t.loans_key, NULL FROM tapes t WHERE t.loans_key IS NOT NULL
    UNION ALL
    SELECT d.tenant_id, d.blob_key, d.size_bytes FROM documents d WHERE d.blob_key IS NOT NULL
    UNION ALL
    SELECT e.tenant_id, read.key, NULL FROM exports e, unnest(e.source_keys) AS read (key) WHERE e.source_keys IS NOT NULL;

-- Of documents whose time is over the records stay, and the bytes are left to be freed.
CREATE FUNCTION expire_documents(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH due AS (
            SELECT d.tenant_id, d.id, d.blob_key FROM documents d WHERE d.blob_key IS NOT NULL AND d.expires_at <= now()
            ORDER BY d.expires_at LIMIT most FOR UPDATE SKIP LOCKED
        ), expired AS (
            UPDATE documents d SET blob_key = NULL FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
        ), held AS (  -- in the order of all who hold several
            SELECT b.tenant_id, b.key FROM blobs b WHERE (b.tenant_id, b.key) IN (SELECT due.tenant_id, due.blob_key FROM due)
            ORDER BY b.tenant_id, b.key FOR UPDATE
        ), freed AS (
            UPDATE blobs b SET left_at = now() FROM held WHERE b.tenant_id = held.tenant_id AND b.key = held.key
        )
        SELECT count(*) FROM due
    $$;
REVOKE ALL ON FUNCTION expire_documents(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION expire_documents(integer) TO cushion_service;
ALTER FUNCTION expire_documents(integer) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;

-- Of the caller's tenant: no figure may come from these bytes any more. A document can be made anew, so its time is over.
CREATE OR REPLACE FUNCTION give_up_blob(wanted text) RETURNS TABLE (kind text, id text, name text, reason text)
    LANGUAGE sql SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH book AS (
            UPDATE workbooks w
            SET status = 'error', error_message = 'The stored columns of the workbook are damaged; upload the file again.',
                version = version + 1, updated_at = now()
            WHERE w.status = 'ready' AND w.deleted_at IS NULL
              AND EXISTS (SELECT FROM sheets s WHERE s.tenant_id = w.tenant_id AND s.workbook_id = w.id AND s.blob_key = wanted)
            RETURNING w.id, w.name, w.error_message
        ), tape AS (
            UPDATE tapes t
            SET processing_status = 'failed', error_message = 'The stored loans of the tape are damaged; upload the file again.'
            WHERE t.processing_status = 'completed' AND t.loans_key = wanted
            RETURNING t.id, t.file_name, t.error_message
        ), document AS (
            UPDATE documents d SET expires_at = now()
            WHERE d.blob_key = wanted AND d.expires_at > now()
            RETURNING d.id, d.name
        )
        SELECT 'workbook', book.id::text, book.name, book.error_message FROM book
        UNION ALL SELECT 'tape', tape.id, tape.file_name, tape.error_message FROM tape
        UNION ALL SELECT 'document', document.id::text, document.name, 'The stored bytes of the document are damaged.' FROM document
    $$;
