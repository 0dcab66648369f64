-- Deals: what ties the files, the rules and the months of one contract together.

CREATE TABLE deals (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    id                 uuid NOT NULL,
    name               text NOT NULL,
    stream_key         text,
    currency           text NOT NULL,
    home_countries     text[] NOT NULL,
    closing_date       date,
    reinvestment_end   date,
    stated_maturity    date,
    next_payment_date  date,
    mapping_id         text,
    own_mapping_id     text GENERATED ALWAYS AS (CASE WHEN mapping_id NOT LIKE 'standard\_%' THEN mapping_id END) STORED,
    definition_version integer NOT NULL DEFAULT 0,  -- 0: none was written yet
    created_by         text NOT NULL,
    version            integer NOT NULL DEFAULT 1,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT deals_stream_key UNIQUE (tenant_id, stream_key),
    CONSTRAINT deals_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id)
);
CREATE INDEX deals_created ON deals (tenant_id, created_at DESC);
CREATE INDEX deals_own_mapping ON deals (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;

CREATE TABLE deal_definitions (
    tenant_id    uuid NOT NULL,
    deal_id      uuid NOT NULL,
    version      integer NOT NULL,
    definition   json NOT NULL,  -- json, not jsonb: it is given back as it was written
    change_notes text,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, deal_id, version),
    FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE CASCADE
);

-- What belongs to a deal outlives it, but for its limits.
ALTER TABLE workbooks
    ADD COLUMN deal_id uuid,
    ADD COLUMN as_of date,
    ADD CONSTRAINT workbooks_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE SET NULL (deal_id);
CREATE INDEX workbooks_of_deal ON workbooks (tenant_id, deal_id, created_at DESC) WHERE deal_id IS NOT NULL;
ALTER TABLE tapes
    ADD COLUMN deal_id uuid,
    ADD COLUMN as_of date,
    ADD CONSTRAINT tapes_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE SET NULL (deal_id);
CREATE INDEX tapes_of_deal ON tapes (tenant_id, deal_id, created_at DESC) WHERE deal_id IS NOT NULL;
ALTER TABLE thresholds
    ADD COLUMN deal_id uuid,
    ADD CONSTRAINT thresholds_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE CASCADE,
    ADD CONSTRAINT thresholds_scope CHECK (workbook_id IS NULL OR deal_id IS NULL),
    DROP CONSTRAINT thresholds_test_key,
    ADD CONSTRAINT thresholds_test_key UNIQUE NULLS NOT DISTINCT (tenant_id, workbook_id, deal_id, test_id);

-- The files of a workbook that was made of several; that of any other stands in its own row.
CREATE TABLE workbook_files (
    tenant_id    uuid NOT NULL,
    workbook_id  uuid NOT NULL,
    index        integer NOT NULL,
    file_name    text NOT NULL,
    file_size    bigint NOT NULL,
    content_hash text NOT NULL,
    PRIMARY KEY (tenant_id, workbook_id, index),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX workbook_files_content ON workbook_files (content_hash);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['deals', 'deal_definitions', 'workbook_files']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
CREATE POLICY definer ON workbook_files TO cushion_definer USING (true);
GRANT SELECT ON workbook_files TO cushion_definer;

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
    SELECT t.tenant_id, t.loans_key, NULL FROM tapes t WHERE t.loans_key IS NOT NULL;

-- What a run was made by, and its figures without their explanations: a deal's history reads hundreds of runs.
ALTER TABLE compliance_runs
    ADD COLUMN definition json,  -- the whole definition: evidence, like the mapping
    ADD COLUMN definition_version integer,
    ADD COLUMN figures jsonb NOT NULL DEFAULT '{}';
ALTER TABLE compliance_runs NO FORCE ROW LEVEL SECURITY;  -- else the owner sees no row
UPDATE compliance_runs SET figures = coalesce((
    SELECT jsonb_object_agg(r ->> 'test_id', jsonb_build_object(
        'value', r -> 'current_value', 'threshold', r -> 'threshold_value', 'status', r -> 'status',
        'cushion', r -> 'cushion', 'cushion_pct', r -> 'cushion_pct'))
    FROM json_array_elements(results) AS r), '{}');
ALTER TABLE compliance_runs FORCE ROW LEVEL SECURITY;

-- A deal's workbooks, each with its newest run and the day that its figures are of.
CREATE VIEW deal_workbooks WITH (security_invoker = true) AS
    SELECT w.tenant_id, w.deal_id, w.id, w.created_at, coalesce(w.as_of, r.as_of) AS as_of,
           coalesce(w.as_of, r.as_of, (w.created_at AT TIME ZONE 'UTC')::date) AS day,
           r.id AS run_id, r.summary, r.figures
    FROM workbooks w LEFT JOIN LATERAL (
        SELECT * FROM compliance_runs c WHERE c.tenant_id = w.tenant_id AND c.workbook_id = w.id
        ORDER BY c.executed_at DESC LIMIT 1) r ON true
    WHERE w.deal_id IS NOT NULL AND w.deleted_at IS NULL;
GRANT SELECT ON deal_workbooks TO cushion_service;
