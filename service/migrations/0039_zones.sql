-- The day of a workbook that nobody named one for is that of its upload by the tenant's clocks, not by UTC.

-- What this server's list of zones does not have is UTC, as in the service.
CREATE FUNCTION day_in_zone(moment timestamptz, zone text) RETURNS date
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        RETURN (moment AT TIME ZONE zone)::date;
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN (moment AT TIME ZONE 'UTC')::date;
    END
    $$;

CREATE OR REPLACE VIEW deal_workbooks WITH (security_invoker = true) AS
    SELECT w.tenant_id, w.deal_id, w.id, w.created_at, coalesce(w.as_of, r.as_of) AS as_of,
           coalesce(w.as_of, r.as_of, day_in_zone(w.created_at, coalesce((
               SELECT t.settings ->> 'timezone' FROM tenants t WHERE t.id = w.tenant_id), 'UTC'))) AS day,
           r.id AS run_id, r.summary, r.figures
    FROM workbooks w LEFT JOIN LATERAL (
        SELECT * FROM compliance_runs c WHERE c.tenant_id = w.tenant_id AND c.workbook_id = w.id
        ORDER BY c.executed_at DESC LIMIT 1) r ON true
    WHERE w.deal_id IS NOT NULL AND w.deleted_at IS NULL;
