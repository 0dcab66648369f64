-- Evidence keeps the columns that a run read, also when its workbook was recalculated, written or deleted since: each
-- book once, however many runs read it, and each sheet's bytes once, however many books have it.

CREATE TABLE evidence_books (
    tenant_id uuid NOT NULL REFERENCES tenants,
    key       text NOT NULL,  -- SHA-256 of the manifest: what compliance_runs.book_key says
    manifest  text NOT NULL,  -- as workbooks.book has it while it is the workbook's present one
    PRIMARY KEY (tenant_id, key)
);
CREATE TABLE evidence_sheets (
    tenant_id uuid NOT NULL,
    book_key  text NOT NULL,
    blob_key  text NOT NULL,
    PRIMARY KEY (tenant_id, book_key, blob_key),
    FOREIGN KEY (tenant_id, book_key) REFERENCES evidence_books (tenant_id, key)
);
CREATE INDEX evidence_sheets_blob ON evidence_sheets (blob_key);
CREATE INDEX compliance_runs_book ON compliance_runs (tenant_id, book_key);

-- Of the runs that are there already, those whose workbook still has the columns that they read. The others cannot be
-- replayed, and the constraint holds for new runs only.
ALTER TABLE compliance_runs NO FORCE ROW LEVEL SECURITY;  -- an owner who is no superuser would find nothing
ALTER TABLE workbooks NO FORCE ROW LEVEL SECURITY;
INSERT INTO evidence_books
SELECT DISTINCT ON (w.tenant_id, w.book_key) w.tenant_id, w.book_key, w.book
FROM workbooks w
WHERE w.book IS NOT NULL
  AND EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = w.tenant_id AND r.book_key = w.book_key);
INSERT INTO evidence_sheets
SELECT DISTINCT b.tenant_id, b.key, s.sheet ->> 'file'
FROM evidence_books b, json_array_elements(b.manifest::json -> 'sheets') AS s (sheet);
ALTER TABLE compliance_runs FORCE ROW LEVEL SECURITY;
ALTER TABLE workbooks FORCE ROW LEVEL SECURITY;
ALTER TABLE compliance_runs ADD CONSTRAINT compliance_runs_book_kept
    FOREIGN KEY (tenant_id, book_key) REFERENCES evidence_books (tenant_id, key) NOT VALID;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['evidence_books', 'evidence_sheets'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('CREATE POLICY definer ON %I TO cushion_definer USING (true)', name);
        EXECUTE format('GRANT SELECT, INSERT ON %I TO cushion_service', name);
    END LOOP;
END
$$;
GRANT SELECT ON evidence_sheets TO cushion_definer;
GRANT SELECT (book_key) ON compliance_runs TO cushion_definer;

-- Until when the runs that read a book want it: the latest end of their streams' retention, `infinity` where one of them
-- is of no stream, or of a stream without a profile or an end.
CREATE VIEW evidence_kept WITH (security_invoker = true) AS
    SELECT r.tenant_id, r.book_key, max(coalesce(p.effective_retention_until, 'infinity')) AS until
    FROM compliance_runs r
    LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
    GROUP BY r.tenant_id, r.book_key;
GRANT SELECT ON evidence_kept TO cushion_service, cushion_definer;

-- As before, and the sheets that evidence keeps.
CREATE OR REPLACE VIEW named_blobs WITH (security_invoker = true) AS
    WITH kept AS NOT MATERIALIZED (
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULL::timestamptz AS until FROM workbooks w
        WHERE w.deleted_at IS NULL
        UNION ALL
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULLIF(e.until, 'infinity')
        FROM workbooks w CROSS JOIN LATERAL (
            SELECT max(coalesce(p.effective_retention_until, 'infinity')) AS until
            FROM compliance_runs r
            LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
            WHERE r.tenant_id = w.tenant_id AND r.workbook_id = w.id) e
        WHERE w.deleted_at IS NOT NULL AND e.until > now()
    )
    SELECT k.tenant_id, k.content_hash AS key, k.file_size AS size_bytes, k.until AS kept_until FROM kept k
    UNION ALL
    SELECT f.tenant_id, f.content_hash, f.file_size, k.until FROM workbook_files f
    JOIN kept k ON k.tenant_id = f.tenant_id AND k.id = f.workbook_id
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL, k.until FROM sheets s
    JOIN kept k ON k.tenant_id = s.tenant_id AND k.id = s.workbook_id
    WHERE s.blob_key IS NOT NULL
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL, NULLIF(e.until, 'infinity')
    FROM evidence_sheets s CROSS JOIN LATERAL (
        SELECT k.until FROM evidence_kept k WHERE k.tenant_id = s.tenant_id AND k.book_key = s.book_key) e
    WHERE e.until > now()
    UNION ALL
    SELECT t.tenant_id, t.content_hash, t.file_size, NULL FROM tapes t
    UNION ALL
    SELECT t.tenant_id, t.loans_key, NULL, NULL FROM tapes t WHERE t.loans_key IS NOT NULL
    UNION ALL
    SELECT d.tenant_id, d.blob_key, d.size_bytes, NULL FROM documents d WHERE d.blob_key IS NOT NULL
    UNION ALL
    SELECT e.tenant_id, read.key, NULL, NULL FROM exports e, unnest(e.source_keys) AS read (key) WHERE e.source_keys IS NOT NULL;

-- For who runs the deployment's own commands: tenants by slug or identifier, all of them where none is named.
CREATE FUNCTION tenants_named(wanted text) RETURNS TABLE (id uuid, slug text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.id, t.slug FROM tenants t WHERE wanted IS NULL OR t.slug = wanted OR t.id::text = wanted ORDER BY t.slug $$;

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over its function; revoked at once
REVOKE ALL ON FUNCTION tenants_named(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_named(text) TO cushion_service;
ALTER FUNCTION tenants_named(text) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
