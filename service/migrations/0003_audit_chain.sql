-- The audit log becomes a chain for each tenant: numbered without a gap, each entry's hash made of the one before it.
--
-- Entries come in through append_audit alone, and nobody changes or removes one: neither the service's role, which lost
-- the rights, nor the owner, whom the triggers refuse.

CREATE TABLE audit_heads (
    tenant_id uuid PRIMARY KEY,
    sequence  bigint NOT NULL,  -- of the newest entry; 0 before the first
    hash      bytea NOT NULL    -- the newest entry's; 32 zero bytes before the first
) WITH (fillfactor = 50);       -- every audited change of a tenant changes its row
ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_heads TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
GRANT SELECT ON audit_heads TO cushion_service;

ALTER TABLE audit_log
    ADD COLUMN sequence bigint,
    ADD COLUMN hash bytea,
    ALTER COLUMN details DROP DEFAULT,
    ALTER COLUMN details TYPE json USING details::text::json,  -- json, not jsonb: the hash is over the text as written
    ALTER COLUMN details SET DEFAULT '{}';

-- The hash, as service/platform/audit.py makes it from an export ----------------------------------------------------------

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

-- What was written before, in the order of time ----------------------------------------------------------------------------

ALTER TABLE audit_log NO FORCE ROW LEVEL SECURITY;  -- an owner who is no superuser would find nothing
ALTER TABLE audit_heads NO FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
    entry  audit_log;
    head   audit_heads;
BEGIN
    FOR entry IN SELECT * FROM audit_log ORDER BY tenant_id, occurred_at, id LOOP
        IF head.tenant_id IS DISTINCT FROM entry.tenant_id THEN
            head := (entry.tenant_id, 0, decode(repeat('00', 32), 'hex'));
        END IF;
        entry.sequence := head.sequence + 1;
        entry.hash := audit_hash(head.hash, entry);
        UPDATE audit_log SET sequence = entry.sequence, hash = entry.hash
        WHERE tenant_id = entry.tenant_id AND id = entry.id;
        head.sequence := entry.sequence;
        head.hash := entry.hash;
    END LOOP;
    INSERT INTO audit_heads
    SELECT DISTINCT ON (tenant_id) tenant_id, sequence, hash FROM audit_log ORDER BY tenant_id, sequence DESC;
END
$$;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE audit_log
    ALTER COLUMN sequence SET NOT NULL,
    ALTER COLUMN hash SET NOT NULL,
    ADD CONSTRAINT audit_log_sequence_key UNIQUE (tenant_id, sequence);

-- Lists and the feed: the newest first, by one filter at a time.
DROP INDEX audit_log_time;
CREATE INDEX audit_log_time ON audit_log (tenant_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_user ON audit_log (tenant_id, user_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_action ON audit_log (tenant_id, action, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_resource ON audit_log (tenant_id, resource_type, occurred_at DESC, sequence DESC);

-- Append only --------------------------------------------------------------------------------------------------------------

REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON audit_log FROM cushion_service;

CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql
    AS $$
    BEGIN
        IF TG_OP = 'INSERT' AND current_user = 'cushion_definer' THEN  -- append_audit, which runs as its owner
            RETURN NULL;
        END IF;
        RAISE EXCEPTION 'the audit log takes entries from append_audit only, and keeps them as they are'
            USING ERRCODE = 'insufficient_privilege';
    END
    $$;

DO $$
DECLARE
    name text;
BEGIN
    -- Triggers of a statement are not handed down to partitions, which an owner reaches by their own names.
    FOREACH name IN ARRAY ARRAY['audit_log', 'audit_log_0', 'audit_log_1', 'audit_log_2', 'audit_log_3'] LOOP
        EXECUTE format('CREATE TRIGGER audit_log_append BEFORE INSERT ON %I EXECUTE FUNCTION keep_audit_log()', name);
        EXECUTE format('CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION keep_audit_log()', name);
        -- Always: also where session_replication_role stills the others.
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_log_keep', name);
    END LOOP;
END
$$;

CREATE POLICY definer ON audit_log TO cushion_definer USING (true);
CREATE POLICY definer ON audit_heads TO cushion_definer USING (true);
GRANT SELECT, INSERT ON audit_log TO cushion_definer;
GRANT SELECT, INSERT, UPDATE ON audit_heads TO cushion_definer;

-- Append a tenant's entries, a JSON array of objects with the log's columns; how many were new.
-- The head's row is the tenant's lock until the transaction ends: call it last. An entry whose id is known is passed over.
CREATE FUNCTION append_audit(tenant uuid, entries json) RETURNS integer
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

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over its function; revoked at once
REVOKE ALL ON FUNCTION append_audit(uuid, json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_audit(uuid, json) TO cushion_service;
ALTER FUNCTION append_audit(uuid, json) OWNER TO cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
