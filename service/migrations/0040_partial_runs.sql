-- A run of a part of its suite says nothing of the other tests: what shows a workbook's newest run passes it over.

-- Runs of this release say it among their options; those of releases before by the tests that were named, or by why
-- tests were left out.
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

ALTER TABLE compliance_runs
    ADD COLUMN partial boolean NOT NULL GENERATED ALWAYS AS (is_partial_run(options, skipped)) STORED;
CREATE INDEX compliance_runs_full ON compliance_runs (tenant_id, workbook_id, executed_at DESC) WHERE NOT partial;

-- A deal's workbooks, each with its newest full run and the day that its figures are of. A partial run says the day
-- only where no full run does, and only if its request did not name it.
CREATE OR REPLACE VIEW deal_workbooks WITH (security_invoker = true) AS
    SELECT w.tenant_id, w.deal_id, w.id, w.created_at, coalesce(w.as_of, r.as_of, p.as_of) AS as_of,
           coalesce(w.as_of, r.as_of, p.as_of, day_in_zone(w.created_at, coalesce((
               SELECT t.settings ->> 'timezone' FROM tenants t WHERE t.id = w.tenant_id), 'UTC'))) AS day,
           r.id AS run_id, r.summary, r.figures, r.test_suite
    FROM workbooks w
    LEFT JOIN LATERAL (
        SELECT * FROM compliance_runs c WHERE c.tenant_id = w.tenant_id AND c.workbook_id = w.id AND NOT c.partial
        ORDER BY c.executed_at DESC LIMIT 1) r ON true
    LEFT JOIN LATERAL (
        SELECT c.as_of FROM compliance_runs c
        WHERE r.id IS NULL AND c.tenant_id = w.tenant_id AND c.workbook_id = w.id
          AND c.as_of_source IS DISTINCT FROM 'request'
        ORDER BY c.executed_at DESC LIMIT 1) p ON true
    WHERE w.deal_id IS NOT NULL AND w.deleted_at IS NULL;

-- As before, but that the newest full run of a workbook stays, too: histories, alerts and a deal's latest figures go by it.
CREATE OR REPLACE VIEW expired_runs WITH (security_invoker = true) AS
    WITH over AS MATERIALIZED (  -- first by their time, which leaves a few: the rest is asked of these alone
        SELECT r.tenant_id, r.id, r.workbook_id, r.executed_at, r.stream_key, r.partial,
               coalesce(p.effective_retention_until, t.evidence_until) AS until
        FROM compliance_runs r
        JOIN tenants t ON t.id = r.tenant_id
        LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
        WHERE coalesce(p.effective_retention_until, t.evidence_until) <= now()
    )
    SELECT o.tenant_id, o.id, o.stream_key, o.until
    FROM over o JOIN workbooks w ON w.tenant_id = o.tenant_id AND w.id = o.workbook_id
    WHERE NOT EXISTS (SELECT FROM reports s WHERE s.tenant_id = o.tenant_id AND s.run_id = o.id)
      AND (w.deleted_at IS NOT NULL OR EXISTS (
          SELECT FROM compliance_runs n
          WHERE n.tenant_id = o.tenant_id AND n.workbook_id = o.workbook_id AND n.executed_at > o.executed_at
            AND (o.partial OR NOT n.partial)));
GRANT SELECT (partial) ON compliance_runs TO cushion_definer;
