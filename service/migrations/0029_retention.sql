-- The tables that grow with every day are partitioned by time, so that what has had its time goes by dropping a
-- partition. No rows are rewritten but those of the audit log: of the others the present table becomes the first
-- partition, and only its primary key is built anew.
--
-- Not partitioned: what is kept by something else than its age (runs: by their stream's retention; issues of a
-- comparison: by their tape), and what needs a unique key without a time (idempotency keys, sessions).

SET LOCAL timezone = 'UTC';  -- spans begin and end by it

-- A partition is reached through its table only: nobody but the owner has a right to it, nor would see a row.
CREATE FUNCTION fence_partition(part text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        name text;
    BEGIN
        FOR name IN SELECT p.polname FROM pg_policy p WHERE p.polrelid = part::regclass LOOP
            EXECUTE format('DROP POLICY %I ON %I', name, part);
        END LOOP;
        EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, cushion_service, cushion_definer', part);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part);
        EXECUTE format('CREATE POLICY owner ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', part);
        IF part LIKE 'audit\_log%' THEN  -- triggers of a statement are not handed down, and an owner reaches partitions
            EXECUTE format('CREATE TRIGGER audit_log_append BEFORE INSERT ON %I EXECUTE FUNCTION keep_audit_log()', part);
            EXECUTE format('CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION keep_audit_log()', part);
            EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_log_keep', part);
        END IF;
    END
    $$;
REVOKE ALL ON FUNCTION fence_partition(text) FROM PUBLIC;

-- Which tables, by which column, and how long a partition is; `ahead`: how many are made before their time.
CREATE FUNCTION partitioned_tables() RETURNS TABLE (name text, by_column text, span text, ahead integer)
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$ VALUES ('audit_log', 'occurred_at', 'year', 1), ('jobs', 'created_at', 'week', 2),
                 ('notifications', 'created_at', 'month', 2), ('webhook_deliveries', 'created_at', 'month', 2) $$;
REVOKE ALL ON FUNCTION partitioned_tables() FROM PUBLIC;

-- A partition's end; null where it has none.
CREATE FUNCTION partition_end(part regclass) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM $re$ TO \('([^']+)'\)$re$)::timestamptz
        FROM pg_class c WHERE c.oid = part
    $$;
REVOKE ALL ON FUNCTION partition_end(regclass) FROM PUBLIC;

-- The tables of which the present one becomes the first partition -----------------------------------------------------------

-- An identity column cannot be a partition's before PostgreSQL 17.
DO $$
DECLARE
    next bigint;
BEGIN
    next := nextval('webhook_deliveries_sequence_seq');
    ALTER TABLE webhook_deliveries ALTER COLUMN sequence DROP IDENTITY;
    EXECUTE format('CREATE SEQUENCE webhook_deliveries_sequence_seq START %s', next);
    ALTER TABLE webhook_deliveries ALTER COLUMN sequence SET DEFAULT nextval('webhook_deliveries_sequence_seq');
    GRANT USAGE ON SEQUENCE webhook_deliveries_sequence_seq TO cushion_service, cushion_definer;
END
$$;

DROP TRIGGER jobs_announce ON jobs;
DROP TRIGGER jobs_announce_end ON jobs;
DROP INDEX jobs_id_key;  -- a unique key has the tenant, so that rows can be spread by it; nobody looks for a job without

DO $$
DECLARE
    part    record;
    found   record;
    before  text;
    indexes text[];
    one     text;
BEGIN
    FOR part IN SELECT * FROM partitioned_tables() WHERE name <> 'audit_log' ORDER BY name LOOP
        before := part.name || '_before';
        SELECT coalesce(array_agg(pg_get_indexdef(i.indexrelid)), '{}') INTO indexes
        FROM pg_index i WHERE i.indrelid = part.name::regclass AND NOT i.indisprimary;
        EXECUTE format('ALTER TABLE %I RENAME TO %I', part.name, before);
        FOR found IN SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = before::regclass
        LOOP
            EXECUTE format('ALTER INDEX %I RENAME TO %I', found.relname, before || substr(found.relname, length(part.name) + 1));
        END LOOP;
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I, ADD PRIMARY KEY (tenant_id, id, %I)', before, before || '_pkey', part.by_column);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (tenant_id, id, %I)) PARTITION BY RANGE (%I)',
                       part.name, before, part.by_column, part.by_column);
        FOREACH one IN ARRAY indexes LOOP
            EXECUTE one;
        END LOOP;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part.name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part.name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', part.name);
        EXECUTE format('CREATE POLICY definer ON %I TO cushion_definer USING (true)', part.name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', part.name);
    END LOOP;
END
$$;
ALTER TABLE jobs ADD CONSTRAINT jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants;
ALTER TABLE notifications ADD CONSTRAINT notifications_tenant_id_user_id_fkey
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE;
GRANT SELECT, INSERT, UPDATE ON jobs TO cushion_definer;
GRANT SELECT, INSERT ON webhook_deliveries TO cushion_definer;
DROP POLICY definer ON notifications;
ALTER SEQUENCE webhook_deliveries_sequence_seq OWNED BY webhook_deliveries.sequence;
DROP FUNCTION forget_jobs(integer), forget_notifications(integer, integer), forget_webhook_deliveries(integer, integer);

CREATE TRIGGER jobs_announce AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION announce_job();
CREATE TRIGGER jobs_announce_end AFTER UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IN ('queued', 'running') AND NEW.status NOT IN ('queued', 'running'))
    EXECUTE FUNCTION announce_job();

-- The audit log: by years in the place of the tenant's hash. Nothing of it is dropped; an old year can be moved to a
-- cheaper tablespace as a whole. Its rows are copied.
ALTER TABLE audit_log RENAME TO audit_log_hashed;
ALTER TABLE audit_log_hashed NO FORCE ROW LEVEL SECURITY;  -- an owner who is no superuser would copy nothing
CREATE TABLE audit_log (LIKE audit_log_hashed INCLUDING DEFAULTS) PARTITION BY RANGE (occurred_at);
CREATE TABLE audit_log_before (LIKE audit_log_hashed INCLUDING DEFAULTS);
INSERT INTO audit_log_before SELECT * FROM audit_log_hashed ORDER BY tenant_id, sequence;
DROP FUNCTION append_audit(uuid, json), audit_hash(bytea, audit_log_hashed);  -- of the former table's row
DROP TABLE audit_log_hashed;
ALTER TABLE audit_log_before ADD PRIMARY KEY (tenant_id, id, occurred_at);
ALTER TABLE audit_log ADD PRIMARY KEY (tenant_id, id, occurred_at);
-- That a number is given once is held by append_audit, under the lock on the tenant's head.
CREATE INDEX audit_log_sequence ON audit_log (tenant_id, sequence);
CREATE INDEX audit_log_time ON audit_log (tenant_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_user ON audit_log (tenant_id, user_id, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_action ON audit_log (tenant_id, action, occurred_at DESC, sequence DESC);
CREATE INDEX audit_log_resource ON audit_log (tenant_id, resource_type, occurred_at DESC, sequence DESC);
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_log TO cushion_service USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON audit_log TO cushion_definer USING (true);
GRANT SELECT ON audit_log TO cushion_service;
GRANT SELECT, INSERT ON audit_log TO cushion_definer;
CREATE TRIGGER audit_log_append BEFORE INSERT ON audit_log EXECUTE FUNCTION keep_audit_log();
CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log EXECUTE FUNCTION keep_audit_log();
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_keep;
CREATE TRIGGER audit_log_webhooks AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action IN ('workbook.uploaded', 'calculation.completed', 'compliance.run_completed', 'alert.triggered'))
    EXECUTE FUNCTION tell_webhooks();
CREATE TRIGGER audit_log_alerts AFTER INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.action = 'compliance.run_completed' OR (NEW.action = 'calculation.completed' AND NEW.resource_type = 'workbook'))
    EXECUTE FUNCTION watch_alerts();

-- As migration 0003 has them, of the new table's row.
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

-- Of each: what was there before, to the end of the present span; and what no partition was made for in time.
DO $$
DECLARE
    part record;
    rest text;
BEGIN
    FOR part IN SELECT * FROM partitioned_tables() ORDER BY name LOOP
        rest := part.name || '_rest';
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', part.name, part.name || '_before',
                       date_trunc(part.span, now(), 'UTC') + ('1 ' || part.span)::interval);
        EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', rest, part.name);
        PERFORM fence_partition(part.name || '_before'), fence_partition(rest);
    END LOOP;
END
$$;

-- Upkeep of partitions ------------------------------------------------------------------------------------------------------

-- These two are the owner's, since only the owner of a table changes its partitions: names come from the list above,
-- figures from the caller. Whoever cannot have a lock at once gives up, and is called again.

-- Make what is missing of the present and the next partitions; how many were made. Rows that came into the rest
-- meanwhile move into theirs, unless they are too many to be moved under a lock: then they stay until they expire.
CREATE FUNCTION make_partitions() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        moved_most CONSTANT integer := 100000;
        kind  record;
        since timestamptz;
        until timestamptz;
        part  text;
        rest  text;
        stray bigint;
        made  integer := 0;
    BEGIN
        IF NOT pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) THEN
            RETURN 0;
        END IF;
        PERFORM set_config('lock_timeout', '200ms', true), set_config('timezone', 'UTC', true);
        FOR kind IN SELECT * FROM partitioned_tables() ORDER BY name LOOP
            rest := kind.name || '_rest';
            FOR since IN EXECUTE format(
                'SELECT s FROM generate_series(date_trunc(%1$L, now(), ''UTC''), now() + %2$L::interval, %3$L::interval) AS s'
                ' UNION SELECT date_trunc(%1$L, %4$I, ''UTC'') FROM (SELECT %4$I FROM %5$I LIMIT 1000000) AS strays'
                ' ORDER BY 1 LIMIT 100',
                kind.span, kind.ahead || ' ' || kind.span, '1 ' || kind.span, kind.by_column, rest)
            LOOP
                until := since + ('1 ' || kind.span)::interval;
                part := kind.name || '_' || to_char(since AT TIME ZONE 'UTC', 'YYYYMMDD');
                CONTINUE WHEN to_regclass(quote_ident(part)) IS NOT NULL
                    OR since < partition_end(to_regclass(kind.name || '_before'));
                EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', rest);
                EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %I >= %L AND %I < %L LIMIT %s) AS s',
                               rest, kind.by_column, since, kind.by_column, until, moved_most + 1) INTO stray;
                CONTINUE WHEN stray > moved_most OR (stray > 0 AND kind.name = 'audit_log');  -- which nobody deletes from
                EXECUTE format('CREATE TABLE public.%I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, kind.name);
                IF stray > 0 THEN
                    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
                                   rest, kind.by_column, since, kind.by_column, until, part);
                END IF;
                EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', kind.name, part, since, until);
                PERFORM fence_partition(part);
                made := made + 1;
            END LOOP;
        END LOOP;
        RETURN made;
    END
    $$;

-- Drop the partitions of a table of which every row has had its days since it ended; how many went, and how many rows of
-- the rest, of which nothing can be dropped.
CREATE FUNCTION drop_partitions(kind text, days integer, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        kept  CONSTANT timestamptz := now() - make_interval(days => days);
        needed CONSTANT text[] := CASE kind  -- rows that stay; each is found by an index
            WHEN 'jobs' THEN ARRAY['status IN (''pending'', ''queued'', ''running'')',
                                   'status IN (''completed'', ''failed'') AND finished_at >= $1']
            WHEN 'webhook_deliveries' THEN ARRAY['status = ''pending''', 'completed_at IS NOT NULL AND completed_at >= $1']
            WHEN 'notifications' THEN ARRAY['false', 'created_at >= $1'] END;
        look   CONSTANT text := 'SELECT EXISTS (SELECT FROM %1$s WHERE %2$s) OR EXISTS (SELECT FROM %1$s WHERE %3$s)';
        part  regclass;
        found boolean;
        gone  bigint;
        drops bigint := 0;
    BEGIN
        IF needed IS NULL OR days < 1 THEN
            RAISE EXCEPTION 'nothing of % is dropped', kind USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF NOT pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) THEN
            RETURN 0;
        END IF;
        PERFORM set_config('lock_timeout', '200ms', true), set_config('timezone', 'UTC', true);
        FOR part IN
            SELECT i.inhrelid::regclass FROM pg_inherits i
            WHERE i.inhparent = kind::regclass AND partition_end(i.inhrelid::regclass) < kept ORDER BY 1
        LOOP
            EXECUTE format(look, part, needed[1], needed[2]) INTO found USING kept;
            CONTINUE WHEN found;  -- looked at before anybody has to wait
            EXECUTE format('LOCK TABLE ONLY %I, %s IN ACCESS EXCLUSIVE MODE', kind, part);
            EXECUTE format(look, part, needed[1], needed[2]) INTO found USING kept;
            CONTINUE WHEN found;
            EXECUTE format('DROP TABLE %s', part);
            drops := drops + 1;
        END LOOP;
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE NOT (%2$s) AND NOT (%3$s) LIMIT %4$s))',
                       kind || '_rest', needed[1], needed[2], most) USING kept;
        GET DIAGNOSTICS gone = ROW_COUNT;
        RETURN drops + gone;
    END
    $$;

REVOKE ALL ON FUNCTION make_partitions(), drop_partitions(text, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_partitions(), drop_partitions(text, integer, integer) TO cushion_service;
SELECT make_partitions();
