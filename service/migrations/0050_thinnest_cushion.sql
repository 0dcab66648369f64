-- The test with the least room of each run, as the lists of deals show it: five hundred deals read six runs each.

-- By the cushion as a part of the limit, so that tests of all units compare. A limit of 0 has no such part: a test that
-- fails one comes first, and one that passes it last.
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

ALTER TABLE compliance_runs ADD COLUMN thinnest jsonb GENERATED ALWAYS AS (thinnest_of(figures)) STORED;

-- As before, less workbooks that could not be read and never had a run: they are nobody's newest month.
CREATE OR REPLACE VIEW deal_workbooks WITH (security_invoker = true) AS
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
