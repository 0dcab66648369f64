-- What ends: evidence past its retention, persons, tenants.

-- Runs past their retention that nothing needs: no report shows them, and a workbook that is there keeps its newest run
-- and its newest full run, which histories and alerts read. This is the only place that says when evidence may go.
CREATE VIEW expired_runs WITH (security_invoker = true) AS
    WITH over AS MATERIALIZED (  -- by time first, which leaves few
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
GRANT SELECT ON expired_runs TO cushion_service;
GRANT SELECT ON expired_runs TO cushion_definer;

-- In the caller's tenant: delete a person's own records, and put the token wherever the service wrote their e-mail.
-- What users wrote themselves (names, descriptions, notes, files) belongs to the tenant and stays.
CREATE FUNCTION erase_person(person uuid, email text, token text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        pattern CONSTANT text := email_pattern(email);
        named record;
    BEGIN
        DELETE FROM sessions WHERE user_id = person;
        DELETE FROM password_resets WHERE user_id = person;
        DELETE FROM recovery_codes WHERE user_id = person;
        DELETE FROM known_origins WHERE user_id = person;
        DELETE FROM invitations WHERE user_id = person;
        DELETE FROM notifications WHERE user_id = person;
        DELETE FROM insight_sessions WHERE user_id = person;
        DELETE FROM insight_questions WHERE user_id = person;
        -- Columns that name who created or reviewed a record, and texts that the service wrote.
        FOR named IN
            SELECT c.oid::regclass AS tab, a.attname AS col, a.atttypid::regtype AS kind
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
              AND NOT a.attisdropped
              AND (a.attname IN ('created_by', 'reviewed_by')
                   OR (c.relname || '.' || a.attname) IN (
                       'jobs.arguments', 'jobs.asked_by', 'jobs.error', 'dead_letters.arguments',
                       'dead_letters.exception_message', 'dead_letters.traceback', 'notifications.title',
                       'notifications.message', 'alert_history.details', 'alert_deliveries.attempts',
                       'alert_deliveries.error', 'webhook_deliveries.payload', 'webhook_deliveries.attempts',
                       'webhook_deliveries.error', 'reconciliation_issues.resolution_notes'))
        LOOP
            EXECUTE format('UPDATE %1$s SET %2$I = regexp_replace(%2$I::text, $1, $2, ''gi'')::%3$s'
                           ' WHERE position(lower($3) IN lower(%2$I::text)) > 0', named.tab, named.col, named.kind)
            USING pattern, token, email;
        END LOOP;
        UPDATE idempotency_keys SET content = NULL
        WHERE caller LIKE '%' || person || '%' OR position(convert_to(email, 'UTF8') IN content) > 0;
        UPDATE alerts SET version = version + 1, channels = (
            SELECT coalesce(json_agg(c.kept ORDER BY c.n) FILTER (WHERE c.kept #> '{config,recipients}' IS DISTINCT FROM '[]'), '[]')
            FROM (SELECT each.n, CASE WHEN each.channel ->> 'type' = 'email' THEN jsonb_set(each.channel, '{config}', (
                      SELECT jsonb_object_agg(f.key, CASE WHEN f.key IN ('recipients', 'cc') THEN (
                          SELECT coalesce(jsonb_agg(r), '[]') FROM jsonb_array_elements_text(f.value) r WHERE lower(r) <> lower(email))
                          ELSE f.value END)
                      FROM jsonb_each(each.channel -> 'config') f)) ELSE each.channel END AS kept
                  FROM jsonb_array_elements(channels::jsonb) WITH ORDINALITY AS each (channel, n)) c)
        WHERE channels::text ~* pattern;
        UPDATE users
        SET email = token, full_name = token, status = 'inactive', removed_at = coalesce(removed_at, now()),
            password_hash = NULL, two_factor_enabled = false, two_factor_secret = NULL, two_factor_pending = NULL,
            last_login = NULL, updated_at = now()
        WHERE id = person;
    END
    $$;

-- In the caller's tenant, which must be cancelled: delete some rows of the first table that has any besides evidence.
-- Return how many; 0: none are left.
CREATE FUNCTION empty_tenant(most integer) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        name text;
        gone bigint;
    BEGIN
        PERFORM FROM tenants t WHERE t.id = current_tenant() AND t.status = 'cancelled' AND t.emptied_at IS NULL FOR UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the tenant is not cancelled' USING ERRCODE = 'insufficient_privilege';
        END IF;
        FOREACH name IN ARRAY ARRAY[
            'alert_deliveries', 'alert_history', 'alert_figures', 'alerts', 'notifications', 'webhook_deliveries',
            'webhook_queues', 'webhooks', 'insight_questions', 'insights', 'insight_sessions', 'nominations', 'reports', 'exports',
            'documents', 'formula_runs', 'formula_versions', 'formula_configs', 'scenario_trades', 'scenarios',
            'reconciliation_issues', 'reconciliation_counts', 'reconciliations', 'tapes', 'thresholds', 'dead_letters', 'jobs',
            'idempotency_keys', 'invitations', 'api_keys', 'sessions', 'password_resets', 'recovery_codes', 'known_origins',
            'workbooks', 'deal_definitions', 'deals', 'mappings', 'stream_profiles']
        LOOP
            EXECUTE format(
                'DELETE FROM %1$I WHERE (tableoid, ctid) IN (SELECT x.tableoid, x.ctid FROM %1$I x WHERE %2$s LIMIT %3$s)', name,
                CASE name
                    WHEN 'workbooks' THEN 'NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = x.tenant_id AND r.workbook_id = x.id)'
                    WHEN 'stream_profiles' THEN 'NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = x.tenant_id AND r.stream_key = x.stream_key)'
                    WHEN 'mappings' THEN 'NOT EXISTS (SELECT FROM workbooks w WHERE w.tenant_id = x.tenant_id AND w.own_mapping_id = x.id)'
                    ELSE 'true' END, most);
            GET DIAGNOSTICS gone = ROW_COUNT;
            IF gone > 0 THEN
                RETURN gone;
            END IF;
            -- Hide the workbooks that evidence needs, as their users do; their bytes stay as long as their runs.
            IF name = 'api_keys' THEN
                UPDATE workbooks SET deleted_at = now() WHERE deleted_at IS NULL;
                UPDATE blobs SET left_at = now() WHERE left_at IS NULL;
            END IF;
        END LOOP;
        RETURN 0;
    END
    $$;

-- In the caller's tenant, once only evidence is left: remove all names of persons.
CREATE FUNCTION finish_tenant(floor_years integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        named record;
    BEGIN
        FOR named IN
            SELECT c.oid::regclass AS tab, a.attname AS col
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
              AND NOT a.attisdropped AND a.attname IN ('created_by', 'reviewed_by')
        LOOP
            EXECUTE format('UPDATE %s SET %I = ''erased''', named.tab, named.col);
        END LOOP;
        UPDATE users
        SET email = 'erased-' || id, full_name = 'erased', status = 'inactive', removed_at = coalesce(removed_at, now()),
            password_hash = NULL, two_factor_enabled = false, two_factor_secret = NULL, two_factor_pending = NULL, last_login = NULL;
        UPDATE blobs SET left_at = now() WHERE left_at IS NULL;
        PERFORM close_tenant(floor_years);
    END
    $$;

REVOKE ALL ON FUNCTION erase_person(uuid, text, text), empty_tenant(integer), finish_tenant(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_person(uuid, text, text), empty_tenant(integer),
    finish_tenant(integer) TO cushion_service;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- Only the tenants: the runs of each are deleted in its own transaction, with entries in its audit log.
CREATE FUNCTION tenants_with_expired_runs(most integer) RETURNS TABLE (tenant_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT DISTINCT e.tenant_id FROM expired_runs e LIMIT most $$;

-- Cancelled tenants past their grace period, without running jobs, of which something is left.
CREATE FUNCTION ended_tenants(days integer, most integer) RETURNS TABLE (tenant_id uuid, is_emptied boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT t.id, t.emptied_at IS NOT NULL
        FROM tenants t
        WHERE t.status = 'cancelled' AND t.cancelled_at <= now() - make_interval(days => days)
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.tenant_id = t.id AND j.status = 'running')
          AND (t.emptied_at IS NULL OR EXISTS (SELECT FROM audit_heads h WHERE h.tenant_id = t.id)
               AND t.evidence_until <= now() AND NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = t.id))
        ORDER BY t.cancelled_at LIMIT most
    $$;

-- The audit chain stays for at least a year after its tenant.
CREATE FUNCTION close_tenant(floor_years integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE tenants
        SET name = 'erased', slug = 'erased-' || id, settings = '{}', emptied_at = now(), updated_at = now(),
            evidence_until = cancelled_at + make_interval(years => greatest(floor_years, 1))
        WHERE id = current_tenant() AND status = 'cancelled'
    $$;

-- The last step, after the evidence is gone: delete the chain. The tenant's row stays, without its name.
CREATE FUNCTION forget_tenant(most integer) RETURNS bigint
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
            DELETE FROM workbooks w WHERE w.tenant_id = tenant;
            DELETE FROM stream_profiles p WHERE p.tenant_id = tenant;
            DELETE FROM evidence_sheets s WHERE s.tenant_id = tenant;
            DELETE FROM evidence_books b WHERE b.tenant_id = tenant;
            DELETE FROM users u WHERE u.tenant_id = tenant;
        END IF;
        RETURN gone;
    END
    $$;

REVOKE ALL ON FUNCTION tenants_with_expired_runs(integer), ended_tenants(integer, integer), close_tenant(integer),
    forget_tenant(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_expired_runs(integer), ended_tenants(integer, integer), close_tenant(integer),
    forget_tenant(integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
