-- What erases from the audit log can do nothing else, whoever calls it; and it is told by nobody else.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

-- Beginning a line of a text within JSON, too.
CREATE OR REPLACE FUNCTION email_pattern(email text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT '(?:(?<![\w.%+-])|(?<=\\[bfnrt]))' || regexp_replace(email, '([^\w@])', '\\\1', 'g') || '(?![\w-]|\.\w)'
    $$;

-- Only redact_audit tells of redactions: what takes any entry has no rights of its own any more, and these two call it.
ALTER FUNCTION append_audit(uuid, json) RENAME TO append_entries;
ALTER FUNCTION append_entries(uuid, json) SECURITY INVOKER;
REVOKE ALL ON FUNCTION append_entries(uuid, json) FROM cushion_service;
CREATE FUNCTION append_audit(tenant uuid, entries json) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF EXISTS (SELECT FROM json_array_elements(entries) AS e WHERE e ->> 'action' = 'user.redacted') THEN
            RAISE EXCEPTION 'a redaction is told by whoever makes it' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN append_entries(tenant, entries);
    END
    $$;

-- As migration 0035 has it; but the token is not the caller's to choose, what it replaces is an e-mail, and whose it
-- was has been removed. Without a person: the tenant is cancelled, and about to be closed.
DROP FUNCTION redact_audit(uuid, text, text, bigint, integer);
CREATE FUNCTION redact_audit(person uuid, email text, after bigint, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        tenant CONSTANT uuid := current_tenant();
        token CONSTANT text := coalesce('erased-' || person, 'erased');
        pattern CONSTANT text := coalesce(email_pattern(email), '[^\s@"<>,;:()]+@([\w-]+\.)+[\w-]{2,}');
        entry    audit_log;
        was      audit_log;
        previous bytea;
        told     json[] := '{}';
        last     bigint;
    BEGIN
        IF NOT (person IS NULL AND email IS NULL
                AND EXISTS (SELECT FROM tenants t WHERE t.id = tenant AND t.status = 'cancelled' AND t.emptied_at IS NULL)
                OR coalesce(email, '') ~ '^[^\s"\\@]+@[^\s"\\@]+$'
                AND EXISTS (SELECT FROM users u WHERE u.tenant_id = tenant AND u.id = person AND u.removed_at IS NOT NULL)) THEN
            RAISE EXCEPTION 'nobody of the tenant is to be erased' USING ERRCODE = 'insufficient_privilege';
        END IF;
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
            PERFORM append_entries(tenant, json_build_array(json_build_object(
                'id', gen_random_uuid(), 'occurred_at', now(), 'action', 'user.redacted', 'resource_type', 'user',
                'resource_id', person, 'resource_name', token,
                'details', json_build_object('entries', array_to_json(told)))));
        END IF;
        RETURN last;
    END
    $$;

-- Cancelled tenants whose grace is over and of which no job is under way any more, until nothing of them is left.
DROP FUNCTION ended_tenants(integer, integer);
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

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'append_audit(uuid, json)', 'redact_audit(uuid, text, bigint, integer)', 'ended_tenants(integer, integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
