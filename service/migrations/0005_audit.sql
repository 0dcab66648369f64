-- The audit log: for each tenant a chain of entries, numbered without a gap, each with the hash of the one before in
-- its own. Entries come in by append_audit only. The triggers stop everybody else, the owner included.

CREATE TABLE audit_heads (
    tenant_id uuid PRIMARY KEY,
    sequence  bigint NOT NULL,  -- of the newest entry; 0 before the first
    hash      bytea NOT NULL    -- the newest entry's; 32 zero bytes before the first
) WITH (fillfactor = 50);       -- each audited change of a tenant updates its row
ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_heads TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON audit_heads TO cushion_definer USING (true);
GRANT SELECT ON audit_heads TO cushion_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON audit_heads TO cushion_definer;

-- Refuse statements that would write, change or remove entries past the functions of cushion_definer.
CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql
    AS $$
    BEGIN
        -- append_audit, redact_audit and forget_tenant run as cushion_definer. It may change the columns that name a
        -- person, and no others.
        IF TG_OP <> 'TRUNCATE' AND current_user = 'cushion_definer' THEN
            RETURN NULL;
        END IF;
        RAISE EXCEPTION 'the audit log takes entries from append_audit only, and keeps them as they are'
            USING ERRCODE = 'insufficient_privilege';
    END
    $$;

CREATE TABLE audit_log (
    tenant_id     uuid NOT NULL,
    id            uuid NOT NULL,
    occurred_at   timestamptz NOT NULL,
    user_id       uuid,
    user_email    text,
    api_key_id    uuid,
    action        text NOT NULL,
    resource_type text,
    resource_id   text,
    resource_name text,
    ip_address    text,
    user_agent    text,
    request_id    text,
    details       json NOT NULL DEFAULT '{}',  -- json, not jsonb: the hash is over the text as it was written
    sequence      bigint NOT NULL,  -- append_entries gives each number once, under the lock of the head
    hash          bytea NOT NULL,
    redacted      bytea,  -- hash of the entry after a redaction
    PRIMARY KEY (tenant_id, id, occurred_at)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX audit_log_time ON audit_log (tenant_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_user ON audit_log (tenant_id, user_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_action ON audit_log (tenant_id, action, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_resource ON audit_log (tenant_id, resource_type, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_sequence ON audit_log (tenant_id, sequence);
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_log TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON audit_log TO cushion_definer USING (true);
GRANT SELECT ON audit_log TO cushion_service;
GRANT SELECT, INSERT, DELETE, UPDATE (user_email, resource_name, ip_address, user_agent, details, redacted)
    ON audit_log TO cushion_definer;
CREATE TRIGGER audit_log_append BEFORE INSERT ON audit_log EXECUTE FUNCTION keep_audit_log();
CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log EXECUTE FUNCTION keep_audit_log();
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_keep;  -- even if session_replication_role is replica

-- The hash of an entry. service/platform/data/audit.py computes the same from an export.
CREATE FUNCTION audit_field(value text) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN value IS NULL THEN '-'::bytea
                ELSE convert_to(octet_length(convert_to(value, 'UTF8')) || ':' || value, 'UTF8') END;

CREATE FUNCTION audit_hash(previous bytea, entry audit_log) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(
        previous
        || audit_field(entry.tenant_id::text)
        || audit_field(entry.sequence::text)
        || audit_field(entry.id::text)
        || audit_field(to_char(entry.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        || audit_field(entry.user_id::text)
        || audit_field(entry.user_email)
        || audit_field(entry.api_key_id::text)
        || audit_field(entry.action)
        || audit_field(entry.resource_type)
        || audit_field(entry.resource_id)
        || audit_field(entry.resource_name)
        || audit_field(entry.ip_address)
        || audit_field(entry.user_agent)
        || audit_field(entry.request_id)
        || audit_field(entry.details::text)
    );

-- A pattern for an e-mail within other text, not as a part of a longer one, also at the start of a line in JSON.
CREATE FUNCTION email_pattern(email text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT '(?:(?<![\w.%+-])|(?<=\\[bfnrt]))' || regexp_replace(email, '([^\w@])', '\\\1', 'g') || '(?![\w-]|\.\w)'
    $$;

REVOKE ALL ON FUNCTION email_pattern(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION email_pattern(text) TO cushion_service;
GRANT EXECUTE ON FUNCTION email_pattern(text) TO cushion_definer;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- Append a tenant's entries (a JSON array of objects with the log's columns) and return how many were new. An entry
-- with a known id is skipped. The head's row is the tenant's lock until the transaction ends, so call it last.
CREATE FUNCTION append_entries(tenant uuid, entries json) RETURNS integer
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        head  audit_heads;
        last  audit_heads;
        entry audit_log;
        chain audit_log[];
        known uuid[];  -- null until a known id was met
    BEGIN
        IF tenant IS DISTINCT FROM current_tenant() THEN
            RAISE EXCEPTION 'the transaction is not of this tenant' USING ERRCODE = 'insufficient_privilege';
        END IF;
        SELECT * INTO head FROM audit_heads h WHERE h.tenant_id = tenant FOR UPDATE;
        IF NOT FOUND THEN  -- the first entry; of two transactions the second waits here
            INSERT INTO audit_heads VALUES (tenant, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
            SELECT * INTO head FROM audit_heads h WHERE h.tenant_id = tenant FOR UPDATE;
        END IF;
        -- A unique key on a partitioned table would need the time. A head that fell behind must give no number twice.
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
                -- Look for known ids only now: a plan from the log's first minutes would read all of it.
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

-- As append_entries, for the service: only redact_audit reports redactions.
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

-- In the tenant's next entries after a number, replace a removed person's e-mail by a token, and the address and user
-- agent of what they did. Without a person: everybody's, for a cancelled tenant. The entry `user.redacted` lists each
-- changed entry with its new hash. Return the number of the last entry read, or null at the end.
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

REVOKE ALL ON FUNCTION append_entries(uuid, json), append_audit(uuid, json),
    redact_audit(uuid, text, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_audit(uuid, json), redact_audit(uuid, text, bigint, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;

-- Processes number their events. This records which numbers have arrived in the audit log, so that a loss is noticed.
CREATE TABLE event_numbers (
    tenant_id  uuid NOT NULL,
    source     uuid NOT NULL,    -- a process of the service, while it counts for the tenant
    highest    bigint NOT NULL,  -- highest known number; it counts from 1
    arrived    int8multirange NOT NULL DEFAULT '{}',  -- in the audit log, or reported there as missing
    suspect    int8multirange NOT NULL DEFAULT '{}',  -- missing at suspect_at
    suspect_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, source)
);
CREATE INDEX event_numbers_open ON event_numbers (tenant_id, source)
    WHERE arrived <> int8multirange(int8range(1, highest, '[]'));
CREATE INDEX event_numbers_age ON event_numbers (changed_at);
ALTER TABLE event_numbers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON event_numbers TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON event_numbers TO cushion_definer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON event_numbers TO cushion_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON event_numbers TO cushion_definer;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

-- Store how far a process has counted: a JSON array of objects with tenant_id, source and highest.
CREATE FUNCTION tell_event_numbers(counts json) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        INSERT INTO event_numbers AS known (tenant_id, source, highest)
        SELECT tenant_id, source, highest
        FROM json_to_recordset(counts) AS told (tenant_id uuid, source uuid, highest bigint)
        ORDER BY tenant_id, source
        ON CONFLICT (tenant_id, source) DO UPDATE
        SET highest = greatest(known.highest, excluded.highest), changed_at = now()
    $$;

-- Note which numbers are missing. Return the sources whose numbers are missing for so long, and since before the oldest
-- event that still waits.
CREATE FUNCTION suspect_events(seconds integer, waiting_since timestamptz) RETURNS TABLE (tenant_id uuid, source uuid)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE event_numbers n
        SET suspect = int8multirange(int8range(1, n.highest, '[]')) - n.arrived, suspect_at = now()
        WHERE n.arrived <> int8multirange(int8range(1, n.highest, '[]')) AND isempty(n.suspect - n.arrived);

        SELECT n.tenant_id, n.source FROM event_numbers n
        WHERE n.arrived <> int8multirange(int8range(1, n.highest, '[]'))
          AND NOT isempty(n.suspect - n.arrived) AND n.suspect_at < least(now() - make_interval(secs => seconds), waiting_since)
    $$;

-- Sources without an event for a week, of which all arrived.
CREATE FUNCTION forget_event_numbers(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM event_numbers WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM event_numbers
                WHERE changed_at < now() - interval '7 days' AND arrived = int8multirange(int8range(1, highest, '[]'))
                LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION tell_event_numbers(json), suspect_events(integer, timestamptz),
    forget_event_numbers(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tell_event_numbers(json), suspect_events(integer, timestamptz),
    forget_event_numbers(integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
