-- What ends goes: records, people, tenants. Never evidence within its retention.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

ALTER TABLE tenants
    ADD COLUMN cancelled_at   timestamptz,  -- its grace counts from here
    ADD COLUMN emptied_at     timestamptz,  -- all but its evidence was removed
    ADD COLUMN evidence_until timestamptz;  -- of runs that no profile keeps: once it is emptied nobody can write one
ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;  -- else the owner sees no row
UPDATE tenants SET cancelled_at = now() WHERE status = 'cancelled';
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
-- None of the three is the service's to write: whoever works as it could else say that a tenant's evidence is over.
REVOKE UPDATE ON tenants FROM cushion_service;
GRANT UPDATE (id, name, slug, subscription_tier, status, settings, version, updated_at) ON tenants TO cushion_service;
GRANT UPDATE (name, slug, settings, emptied_at, evidence_until, updated_at) ON tenants TO cushion_definer;
CREATE FUNCTION note_cancellation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF NEW.status <> 'cancelled' THEN
            NEW.cancelled_at := NULL;
        ELSIF NEW.cancelled_at IS NULL THEN
            NEW.cancelled_at := now();
        END IF;
        RETURN NEW;
    END
    $$;
CREATE TRIGGER tenants_cancelled BEFORE UPDATE OF status ON tenants FOR EACH ROW EXECUTE FUNCTION note_cancellation();

-- Growth: what each kind keeps its days -----------------------------------------------------------------------------------

CREATE POLICY definer ON formula_runs TO cushion_definer USING (true);
CREATE POLICY definer ON reports TO cushion_definer USING (true);
GRANT DELETE ON dead_letters, known_origins, invitations, tenant_usage, documents TO cushion_definer;
GRANT SELECT, DELETE ON formula_runs, reports, exports TO cushion_definer;

-- Settled ones; whoever waits for somebody waits on.
CREATE FUNCTION forget_dead_letters(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM dead_letters WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM dead_letters
                WHERE status IN ('retried', 'resolved', 'discarded')
                  AND greatest(failed_at, last_retry_at, resolved_at) < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- Accepted ones; an open one is withdrawn or renewed together with its user.
CREATE FUNCTION forget_invitations(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM invitations WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM invitations WHERE accepted_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_origins(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM known_origins WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM known_origins WHERE seen_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_usage(months integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM tenant_usage WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM tenant_usage
                WHERE month < to_char((now() - make_interval(months => months)) AT TIME ZONE 'UTC', 'YYYY-MM') LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_formula_runs(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM formula_runs WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM formula_runs
                WHERE status IN ('completed', 'failed') AND started_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

-- Records of exports and reports; then of documents whose bytes went long ago, and that no record has any more.
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

CREATE INDEX exports_documents ON exports (tenant_id, document_id);
CREATE INDEX reports_documents ON reports (tenant_id, document_id);
CREATE INDEX reports_runs ON reports (tenant_id, run_id) WHERE run_id IS NOT NULL;
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

-- Evidence ----------------------------------------------------------------------------------------------------------------

-- Of a tenant that is emptied what no profile keeps stays until a moment of its own.
CREATE OR REPLACE VIEW evidence_kept WITH (security_invoker = true) AS
    SELECT r.tenant_id, r.book_key, max(coalesce(p.effective_retention_until, t.evidence_until, 'infinity')) AS until
    FROM compliance_runs r
    JOIN tenants t ON t.id = r.tenant_id
    LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
    GROUP BY r.tenant_id, r.book_key;
CREATE OR REPLACE VIEW named_blobs WITH (security_invoker = true) AS
    WITH kept AS NOT MATERIALIZED (
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULL::timestamptz AS until FROM workbooks w
        WHERE w.deleted_at IS NULL
        UNION ALL
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULLIF(e.until, 'infinity')
        FROM workbooks w JOIN tenants t ON t.id = w.tenant_id CROSS JOIN LATERAL (
            SELECT max(coalesce(p.effective_retention_until, t.evidence_until, 'infinity')) AS until
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

-- Runs whose retention is over and that nothing needs: no report shows them, and of a workbook that is there the newest
-- one stays, since histories and alerts go by it. The one place that says when evidence may go.
CREATE VIEW expired_runs WITH (security_invoker = true) AS
    WITH over AS MATERIALIZED (  -- first by their time, which leaves a few: the rest is asked of these alone
        SELECT r.tenant_id, r.id, r.workbook_id, r.executed_at, r.stream_key,
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
          WHERE n.tenant_id = o.tenant_id AND n.workbook_id = o.workbook_id AND n.executed_at > o.executed_at));
GRANT SELECT ON expired_runs TO cushion_service, cushion_definer;
GRANT SELECT (id, executed_at) ON compliance_runs TO cushion_definer;

-- Only whose: each tenant's are removed in its own transaction, with their entries in its audit log.
CREATE FUNCTION tenants_with_expired_runs(most integer) RETURNS TABLE (tenant_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT DISTINCT e.tenant_id FROM expired_runs e LIMIT most $$;

-- A person --------------------------------------------------------------------------------------------------------------

-- What is left of an entry's hash once something of it was redacted: the hash that the entry gives as it stands. The
-- entry that tells of the redaction has it, too.
ALTER TABLE audit_log ADD COLUMN redacted bytea;

CREATE OR REPLACE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql
    AS $$
    BEGIN
        -- append_audit, redact_audit and forget_tenant, which run as their owner; it has the right to change what names
        -- a person, and no other column.
        IF TG_OP <> 'TRUNCATE' AND current_user = 'cushion_definer' THEN
            RETURN NULL;
        END IF;
        RAISE EXCEPTION 'the audit log takes entries from append_audit only, and keeps them as they are'
            USING ERRCODE = 'insufficient_privilege';
    END
    $$;
GRANT UPDATE (user_email, ip_address, user_agent, resource_name, details, redacted) ON audit_log TO cushion_definer;

-- An e-mail within other text, and not as the end or beginning of a longer one.
CREATE FUNCTION email_pattern(email text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT '(?<![\w.%+-])' || regexp_replace(email, '([^\w@])', '\\\1', 'g') || '(?![\w-]|\.\w)'
    $$;

-- In the next entries of the caller's tenant behind a number: the token in the place of a person's e-mail, and of the
-- address and the program of what they did. Without a person: of everybody's. The entry `user.redacted` names each
-- changed entry with the hash that it gives now. The number of the last entry that was looked at; null: there is none.
CREATE FUNCTION redact_audit(person uuid, email text, token text, after bigint, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        tenant CONSTANT uuid := current_tenant();
        pattern CONSTANT text := coalesce(email_pattern(email), '[^\s@"<>,;:()]+@([\w-]+\.)+[\w-]{2,}');
        entry    audit_log;
        was      audit_log;
        previous bytea;
        told     json[] := '{}';
        last     bigint;
    BEGIN
        PERFORM FROM audit_heads h WHERE h.tenant_id = tenant FOR UPDATE;
        SELECT max(s.sequence) INTO last FROM (
            SELECT l.sequence FROM audit_log l WHERE l.tenant_id = tenant AND l.sequence > after ORDER BY l.sequence LIMIT most) s;
        FOR entry IN
            SELECT * FROM audit_log l WHERE l.tenant_id = tenant AND l.sequence > after AND l.sequence <= last
              AND (person IS NULL OR l.user_id = person OR lower(l.user_email) = lower(email)
                   OR l.resource_name ~* pattern OR l.details::text ~* pattern)
            ORDER BY l.sequence
        LOOP
            was := entry;
            IF person IS NULL OR entry.user_id = person OR lower(entry.user_email) = lower(email) THEN
                entry.user_email := CASE WHEN entry.user_email IS NOT NULL THEN token END;
                entry.ip_address := CASE WHEN entry.ip_address IS NOT NULL THEN token END;
                entry.user_agent := CASE WHEN entry.user_agent IS NOT NULL THEN token END;
            END IF;
            entry.resource_name := regexp_replace(entry.resource_name, pattern, token, 'gi');
            entry.details := regexp_replace(entry.details::text, pattern, token, 'gi');
            CONTINUE WHEN (was.user_email, was.ip_address, was.user_agent, was.resource_name, was.details::text)
                IS NOT DISTINCT FROM (entry.user_email, entry.ip_address, entry.user_agent, entry.resource_name, entry.details::text);
            SELECT p.hash INTO previous FROM audit_log p WHERE p.tenant_id = tenant AND p.sequence = entry.sequence - 1;
            entry.redacted := audit_hash(CASE WHEN entry.sequence = 1 THEN decode(repeat('00', 32), 'hex') ELSE previous END, entry);
            UPDATE audit_log l
            SET user_email = entry.user_email, ip_address = entry.ip_address, user_agent = entry.user_agent,
                resource_name = entry.resource_name, details = entry.details, redacted = entry.redacted
            WHERE l.tenant_id = tenant AND l.id = entry.id AND l.occurred_at = entry.occurred_at;
            told := told || json_build_array(entry.sequence, encode(entry.redacted, 'hex'));
        END LOOP;
        IF cardinality(told) > 0 THEN
            PERFORM append_audit(tenant, json_build_array(json_build_object(
                'id', gen_random_uuid(), 'occurred_at', now(), 'action', 'user.redacted', 'resource_type', 'user',
                'resource_id', person, 'resource_name', token,
                'details', json_build_object('entries', array_to_json(told)))));
        END IF;
        RETURN last;
    END
    $$;

-- Nobody gives an entry a redaction when it is written.
CREATE OR REPLACE FUNCTION append_audit(tenant uuid, entries json) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        head  audit_heads;
        last  audit_heads;
        entry audit_log;
        chain audit_log[];
        known uuid[];  -- null until one is met
    BEGIN
        IF tenant IS DISTINCT FROM current_tenant() THEN
            RAISE EXCEPTION 'the transaction is not of this tenant' USING ERRCODE = 'insufficient_privilege';
        END IF;
        SELECT * INTO head FROM audit_heads h WHERE h.tenant_id = tenant FOR UPDATE;
        IF NOT FOUND THEN  -- the tenant's first entry; of two at once one waits here for the other
            INSERT INTO audit_heads VALUES (tenant, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
            SELECT * INTO head FROM audit_heads h WHERE h.tenant_id = tenant FOR UPDATE;
        END IF;
        -- What a unique key did while no partition had a time: a head that fell behind gives no number twice.
        IF EXISTS (SELECT FROM audit_log l WHERE l.tenant_id = tenant AND l.sequence > head.sequence) THEN
            RAISE EXCEPTION 'the head of the chain is behind its entries' USING ERRCODE = 'unique_violation';
        END IF;
        LOOP
            last := head;
            chain := '{}';
            FOR entry IN
                SELECT (given.e).*
                FROM (SELECT r.e, r.n, row_number() OVER (PARTITION BY (r.e).id ORDER BY r.n) AS time
                      FROM (SELECT json_populate_record(NULL::audit_log, a.element) AS e, a.n
                            FROM json_array_elements(entries) WITH ORDINALITY AS a (element, n)) AS r) AS given
                WHERE given.time = 1 AND (known IS NULL OR (given.e).id <> ALL (known))
                ORDER BY given.n
            LOOP
                entry.tenant_id := tenant;
                entry.redacted := NULL;
                entry.sequence := last.sequence + 1;
                entry.hash := audit_hash(last.hash, entry);
                chain := chain || entry;
                last.sequence := entry.sequence;
                last.hash := entry.hash;
            END LOOP;
            BEGIN
                INSERT INTO audit_log SELECT * FROM unnest(chain);  -- one statement opens partitions and indexes once
                EXIT;
            EXCEPTION WHEN unique_violation THEN
                -- Only now are the known ones looked for: a plan from the log's first minutes would read all of it.
                IF known IS NOT NULL THEN
                    RAISE;
                END IF;
                SELECT coalesce(array_agg(l.id), '{}') INTO known FROM audit_log l
                WHERE l.tenant_id = tenant
                  AND l.id IN (SELECT (element ->> 'id')::uuid FROM json_array_elements(entries) AS a (element));
            END;
        END LOOP;
        UPDATE audit_heads h SET sequence = last.sequence, hash = last.hash
        WHERE h.tenant_id = tenant AND cardinality(chain) > 0;
        RETURN cardinality(chain);
    END
    $$;

-- Of the caller's tenant: a person's own records go, and the token stands wherever the service wrote their e-mail. What
-- users wrote themselves (names, descriptions, notes, files) is the tenant's, and stays.
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
        -- Whoever made or reviewed a record; and what the service wrote into texts.
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

-- A tenant's end ------------------------------------------------------------------------------------------------------------

-- Nothing of a cancelled tenant runs: its jobs wait until it comes back, or is emptied.
CREATE OR REPLACE FUNCTION claim_jobs(most integer, lease_seconds integer, of_each integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('claim_jobs', 0));
        RETURN QUERY
            WITH taken AS (
                SELECT j.tenant_id, j.queue, count(*) AS jobs FROM jobs j WHERE j.status IN ('queued', 'running')
                GROUP BY j.tenant_id, j.queue
            ), waiting AS (
                SELECT w.tenant_id, w.queue
                FROM (SELECT DISTINCT j.tenant_id, j.queue FROM jobs j WHERE j.status = 'pending' AND j.ready_at <= now()) AS w
                JOIN tenants t ON t.id = w.tenant_id WHERE t.status <> 'cancelled'
            ), chosen AS (
                SELECT first.tenant_id, first.id
                FROM waiting LEFT JOIN taken USING (tenant_id, queue) CROSS JOIN LATERAL (
                    SELECT j.tenant_id, j.id, j.ready_at,
                           coalesce(taken.jobs, 0) + row_number() OVER (ORDER BY j.ready_at) AS turn
                    FROM jobs j
                    WHERE j.tenant_id = waiting.tenant_id AND j.queue = waiting.queue
                      AND j.status = 'pending' AND j.ready_at <= now()
                    ORDER BY j.ready_at LIMIT greatest(of_each - coalesce(taken.jobs, 0), 0)
                ) AS first
                ORDER BY first.turn, first.ready_at LIMIT most
            )
            UPDATE jobs j
            SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
            FROM chosen WHERE j.tenant_id = chosen.tenant_id AND j.id = chosen.id AND j.status = 'pending'
            RETURNING j.tenant_id, j.id, j.queue, j.attempt;
    END
    $$;

CREATE OR REPLACE FUNCTION claim_small_jobs(most integer, lease_seconds integer)
    RETURNS TABLE (tenant_id uuid, id text, queue text, attempt integer)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE jobs j
        SET status = 'queued', attempt = j.attempt + 1, lease_until = now() + make_interval(secs => lease_seconds)
        FROM (
            SELECT w.tenant_id, w.id FROM jobs w
            WHERE w.small AND w.status IN ('pending', 'queued') AND w.ready_at <= now()
              AND NOT EXISTS (SELECT FROM tenants t WHERE t.id = w.tenant_id AND t.status = 'cancelled')
            ORDER BY (SELECT count(*) FROM jobs r WHERE r.tenant_id = w.tenant_id AND r.status = 'running'), w.ready_at
            LIMIT most FOR UPDATE SKIP LOCKED
        ) chosen
        WHERE j.tenant_id = chosen.tenant_id AND j.id = chosen.id
        RETURNING j.tenant_id, j.id, j.queue, j.attempt
    $$;

CREATE OR REPLACE FUNCTION jobs_due(OUT small bigint, OUT large bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT count(*) FILTER (WHERE j.small), count(*) FILTER (WHERE NOT j.small)
        FROM jobs j JOIN tenants t ON t.id = j.tenant_id
        WHERE j.status IN ('pending', 'queued') AND j.ready_at <= now() AND t.status <> 'cancelled'
    $$;

-- Cancelled tenants whose grace is over, until nothing of them is left.
CREATE FUNCTION ended_tenants(days integer, most integer) RETURNS TABLE (tenant_id uuid, is_emptied boolean, is_over boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT t.id, t.emptied_at IS NOT NULL,
               t.evidence_until <= now() AND NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = t.id)
        FROM tenants t
        WHERE t.status = 'cancelled' AND t.cancelled_at <= now() - make_interval(days => days)
          AND (t.emptied_at IS NULL OR EXISTS (SELECT FROM audit_heads h WHERE h.tenant_id = t.id)
               AND t.evidence_until <= now() AND NOT EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = t.id))
        ORDER BY t.cancelled_at LIMIT most
    $$;

-- Of the caller's tenant, which must be cancelled: remove some rows of the first table that has any but evidence; how
-- many. 0: there are none left.
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
            -- What evidence needs is deleted as its users delete it: hidden, its bytes kept for as long as its runs.
            IF name = 'api_keys' THEN
                UPDATE workbooks SET deleted_at = now() WHERE deleted_at IS NULL;
                UPDATE blobs SET left_at = now() WHERE left_at IS NULL;
            END IF;
        END LOOP;
        RETURN 0;
    END
    $$;

-- Of the caller's tenant, once nothing but evidence is left: nobody is named any more.
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

-- Whatever the caller says, the chain stays for a year after its tenant.
CREATE FUNCTION close_tenant(floor_years integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE tenants
        SET name = 'erased', slug = 'erased-' || id, settings = '{}', emptied_at = now(), updated_at = now(),
            evidence_until = cancelled_at + make_interval(years => greatest(floor_years, 1))
        WHERE id = current_tenant() AND status = 'cancelled'
    $$;

-- The last of a tenant whose evidence is gone: its chain. The row of the tenant stays, without its name.
GRANT DELETE ON audit_log, audit_heads, users, workbooks, stream_profiles TO cushion_definer;
GRANT DELETE ON evidence_sheets, evidence_books TO cushion_definer;
GRANT SELECT (tenant_id) ON evidence_books TO cushion_definer;
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

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'forget_dead_letters(integer, integer)', 'forget_invitations(integer, integer)', 'forget_origins(integer, integer)',
        'forget_usage(integer, integer)', 'forget_formula_runs(integer, integer)', 'forget_exports(integer, integer)',
        'forget_reports(integer, integer)', 'forget_documents(integer, integer)', 'tenants_with_expired_runs(integer)',
        'redact_audit(uuid, text, text, bigint, integer)', 'ended_tenants(integer, integer)', 'forget_tenant(integer)',
        'close_tenant(integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['email_pattern(text)', 'erase_person(uuid, text, text)', 'empty_tenant(integer)', 'finish_tenant(integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION email_pattern(text) TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
