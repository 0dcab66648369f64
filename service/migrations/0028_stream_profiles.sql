-- Stream profiles: for how long the evidence of a deal's runs stays, and with it the bytes of deleted workbooks.

CREATE TABLE stream_profiles (
    tenant_id                 uuid NOT NULL REFERENCES tenants,
    id                        uuid NOT NULL,
    stream_key                text NOT NULL,
    deal_name                 text,
    jurisdiction              text,
    retention_mode            text NOT NULL CHECK (retention_mode IN ('fixed_years', 'life_of_securitisation')),
    retention_years           integer,
    maturity_date             date,
    retention_until           timestamptz,
    retention_floor_years     integer,  -- the jurisdiction's, when the profile was last written
    profile_metadata          json NOT NULL,  -- json, not jsonb: it is given back as it was written
    effective_retention_until timestamptz,    -- null: without an end
    created_by                text NOT NULL,
    created_at                timestamptz NOT NULL,
    updated_at                timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT stream_profiles_key UNIQUE (tenant_id, stream_key)
);
CREATE INDEX stream_profiles_created ON stream_profiles (tenant_id, created_at DESC);
ALTER TABLE stream_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE stream_profiles FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON stream_profiles TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON stream_profiles TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON stream_profiles TO cushion_service;
GRANT SELECT (tenant_id, stream_key, effective_retention_until) ON stream_profiles TO cushion_definer;
GRANT SELECT (stream_key) ON compliance_runs TO cushion_definer;
CREATE INDEX compliance_runs_stream ON compliance_runs (tenant_id, stream_key) WHERE stream_key IS NOT NULL;

-- Of a deleted workbook the bytes stay until the retention of each of its runs has ended: without an end where one of
-- them is of no stream, or of a stream without a profile. `kept_until` is that moment; null: nothing has to be asked.
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
    SELECT t.tenant_id, t.content_hash, t.file_size, NULL FROM tapes t
    UNION ALL
    SELECT t.tenant_id, t.loans_key, NULL, NULL FROM tapes t WHERE t.loans_key IS NOT NULL
    UNION ALL
    SELECT d.tenant_id, d.blob_key, d.size_bytes, NULL FROM documents d WHERE d.blob_key IS NOT NULL
    UNION ALL
    SELECT e.tenant_id, read.key, NULL, NULL FROM exports e, unnest(e.source_keys) AS read (key) WHERE e.source_keys IS NOT NULL;
