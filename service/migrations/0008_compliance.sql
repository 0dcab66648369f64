-- Compliance: thresholds, runs, and the evidence that reproduces them.

CREATE TABLE thresholds (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                uuid NOT NULL,
    workbook_id       uuid,
    test_id           text NOT NULL,
    threshold_value   double precision NOT NULL,
    threshold_type    text NOT NULL CHECK (threshold_type IN ('min', 'max', 'exact')),
    warning_threshold double precision,
    enabled           boolean NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    deal_id           uuid,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT thresholds_test_key UNIQUE NULLS NOT DISTINCT (tenant_id, workbook_id, deal_id, test_id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id),
    CONSTRAINT thresholds_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT thresholds_scope CHECK (workbook_id IS NULL OR deal_id IS NULL)
);
ALTER TABLE thresholds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON thresholds TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON thresholds TO cushion_service;

-- The columns that runs read, kept after their workbook was recalculated or deleted: each book once, however many runs
-- read it, and each sheet's bytes once, however many books have it.
CREATE TABLE evidence_books (
    tenant_id uuid NOT NULL REFERENCES tenants,
    key       text NOT NULL,  -- SHA-256 of the manifest
    manifest  text NOT NULL,  -- as in workbooks.book
    PRIMARY KEY (tenant_id, key)
);
ALTER TABLE evidence_books ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON evidence_books TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON evidence_books TO cushion_definer USING (true);
GRANT SELECT, INSERT ON evidence_books TO cushion_service;
GRANT DELETE, SELECT (tenant_id) ON evidence_books TO cushion_definer;

CREATE TABLE evidence_sheets (
    tenant_id uuid NOT NULL,
    book_key  text NOT NULL,
    blob_key  text NOT NULL,
    PRIMARY KEY (tenant_id, book_key, blob_key),
    FOREIGN KEY (tenant_id, book_key) REFERENCES evidence_books (tenant_id, key)
);
CREATE INDEX evidence_sheets_blob ON evidence_sheets (blob_key);
ALTER TABLE evidence_sheets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON evidence_sheets TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON evidence_sheets TO cushion_definer USING (true);
GRANT SELECT, INSERT ON evidence_sheets TO cushion_service;
GRANT SELECT, DELETE ON evidence_sheets TO cushion_definer;

-- Whether a run had only a part of its suite's tests. Options say so; those of early runs do not, but have the tests
-- that were named, or the reasons for which tests were skipped.
CREATE FUNCTION is_partial_run(options json, skipped json) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT coalesce(
            (options ->> 'partial')::boolean,
            CASE WHEN json_typeof(options -> 'test_ids') = 'array' THEN json_array_length(options -> 'test_ids') > 0 END
            OR CASE WHEN json_typeof(skipped) = 'array' THEN EXISTS (
                SELECT FROM json_array_elements(skipped) AS s (test)
                WHERE test ->> 'reason' IN ('not run: an earlier test failed and the run stops at the first failure',
                                            'disabled by the request''s threshold')) END,
            false)
    $$;

-- The test with the least room, by its cushion as a part of the limit, so that tests of all units compare. At a limit
-- of 0, a test that fails comes first, and one that passes last.
CREATE FUNCTION thinnest_of(figures jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT jsonb_build_object(
            'test_id', f.key, 'test_name', coalesce(f.value -> 'name', to_jsonb(f.key)),
            'unit', coalesce(f.value -> 'unit', '""'), 'decimals', coalesce(f.value -> 'decimals', '2'),
            'status', f.value -> 'status', 'cushion', f.value -> 'cushion', 'cushion_pct', f.value -> 'cushion_pct',
            'doubtful', f.value ? 'doubtful', 'room', f.room)
        FROM (
            SELECT key, value, CASE
                WHEN value ->> 'cushion_pct' IS NOT NULL
                    THEN (value ->> 'cushion_pct')::float8 * sign((value ->> 'threshold')::float8)
                WHEN (value ->> 'cushion')::float8 < 0 THEN -1e300 END AS room
            FROM jsonb_each(figures)
            WHERE value ->> 'cushion' IS NOT NULL) f
        ORDER BY f.room NULLS LAST, f.key LIMIT 1
    $$;

CREATE TABLE compliance_runs (
    tenant_id         uuid NOT NULL,
    id                uuid NOT NULL,
    workbook_id       uuid NOT NULL,
    test_suite        text NOT NULL,
    status            text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    summary           jsonb NOT NULL,
    results           json NOT NULL,  -- json, not jsonb: evidence keeps each digit and key
    skipped           json NOT NULL,
    executed_at       timestamptz NOT NULL,
    execution_time_ms double precision NOT NULL,
    -- To reproduce the run:
    workbook_hash     text NOT NULL,  -- of the uploaded file
    book_key          text NOT NULL,  -- of the columns that were read
    mapping           json NOT NULL,
    thresholds        json NOT NULL,
    options           json NOT NULL,
    engine_version    text NOT NULL,
    as_of             date NOT NULL,  -- the day that the figures are of
    stream_key        text,
    created_by        text NOT NULL,
    definition        json,  -- a copy of the whole definition, as of the mapping
    definition_version integer,
    figures           jsonb NOT NULL DEFAULT '{}',  -- without explanations: a deal's history reads hundreds of runs
    as_of_source      text CHECK (as_of_source IN ('request', 'workbook', 'file', 'column', 'modified', 'upload')),
    warnings          json NOT NULL DEFAULT '[]',
    partial           boolean NOT NULL GENERATED ALWAYS AS (is_partial_run(options, skipped)) STORED,
    thinnest          jsonb GENERATED ALWAYS AS (thinnest_of(figures)) STORED,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id),
    CONSTRAINT compliance_runs_book_kept FOREIGN KEY (tenant_id, book_key) REFERENCES evidence_books (tenant_id, key)
);
CREATE INDEX compliance_runs_time ON compliance_runs (tenant_id, executed_at DESC);
CREATE INDEX compliance_runs_workbook ON compliance_runs (tenant_id, workbook_id, executed_at DESC);
CREATE INDEX compliance_runs_stream ON compliance_runs (tenant_id, stream_key) WHERE stream_key IS NOT NULL;
CREATE INDEX compliance_runs_book ON compliance_runs (tenant_id, book_key);
CREATE INDEX compliance_runs_full ON compliance_runs (tenant_id, workbook_id, executed_at DESC) WHERE NOT partial;
ALTER TABLE compliance_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON compliance_runs TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON compliance_runs TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON compliance_runs TO cushion_service;
GRANT SELECT (tenant_id, id, workbook_id, executed_at, book_key, stream_key, partial)
    ON compliance_runs TO cushion_definer;

-- A deal's workbooks, each with its newest full run and the day of its figures. A partial run gives the day only where
-- there is no full run, and only if its request did not name the day. Workbooks that could not be read are left out,
-- unless they have a run.
CREATE VIEW deal_workbooks WITH (security_invoker = true) AS
    SELECT w.tenant_id, w.deal_id, w.id, w.created_at, coalesce(w.as_of, r.as_of, p.as_of) AS as_of,
           coalesce(w.as_of, r.as_of, p.as_of, day_in_zone(w.created_at, coalesce((
               SELECT t.settings ->> 'timezone' FROM tenants t WHERE t.id = w.tenant_id), 'UTC'))) AS day,
           r.id AS run_id, r.summary, r.figures, r.test_suite, r.thinnest
    FROM workbooks w
    LEFT JOIN LATERAL (
        SELECT * FROM compliance_runs c WHERE c.tenant_id = w.tenant_id AND c.workbook_id = w.id AND NOT c.partial
        ORDER BY c.executed_at DESC LIMIT 1) r ON true
    LEFT JOIN LATERAL (
        SELECT c.as_of FROM compliance_runs c
        WHERE r.id IS NULL AND c.tenant_id = w.tenant_id AND c.workbook_id = w.id
          AND c.as_of_source IS DISTINCT FROM 'request'
        ORDER BY c.executed_at DESC LIMIT 1) p ON true
    WHERE w.deal_id IS NOT NULL AND w.deleted_at IS NULL AND (w.status <> 'error' OR r.id IS NOT NULL);
GRANT SELECT ON deal_workbooks TO cushion_service;

-- Until when runs need a book: the latest end of their streams' retention; `infinity` where a run has no stream, or its
-- stream has no profile or end. In an emptied tenant such runs are kept until tenants.evidence_until.
CREATE VIEW evidence_kept WITH (security_invoker = true) AS
    SELECT r.tenant_id, r.book_key, max(coalesce(p.effective_retention_until, t.evidence_until, 'infinity')) AS until
    FROM compliance_runs r
    JOIN tenants t ON t.id = r.tenant_id
    LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
    GROUP BY r.tenant_id, r.book_key;
GRANT SELECT ON evidence_kept TO cushion_service;
GRANT SELECT ON evidence_kept TO cushion_definer;
