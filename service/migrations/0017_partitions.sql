-- Partitions by time of the tables that grow every day, so that old rows go by dropping a partition.
--
-- Not partitioned: what is kept by something else than its age (runs by their stream's retention, issues by their
-- tape), and what needs a unique key without a time (idempotency keys, sessions).

-- A partition is reached through its table only: nobody but the owner has rights on it or sees its rows.
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
        IF part LIKE 'audit\_log%' THEN  -- partitions do not inherit statement triggers
            EXECUTE format('CREATE TRIGGER audit_log_append BEFORE INSERT ON %I EXECUTE FUNCTION keep_audit_log()', part);
            EXECUTE format('CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION keep_audit_log()', part);
            EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER audit_log_keep', part);
        END IF;
    END
    $$;

-- The partitioned tables, the column, the length of a partition, and how many are created ahead.
CREATE FUNCTION partitioned_tables() RETURNS TABLE (name text, by_column text, span text, ahead integer)
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$ VALUES ('audit_log', 'occurred_at', 'year', 1), ('jobs', 'created_at', 'week', 2),
                 ('notifications', 'created_at', 'month', 2), ('webhook_deliveries', 'created_at', 'month', 2) $$;

-- A partition's end; null if it has none.
CREATE FUNCTION partition_end(part regclass) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM $re$ TO \('([^']+)'\)$re$)::timestamptz
        FROM pg_class c WHERE c.oid = part
    $$;

REVOKE ALL ON FUNCTION fence_partition(text), partitioned_tables(), partition_end(regclass) FROM PUBLIC;

-- The first partition of each table begins before all time and ends with the present span. The partition without bounds
-- takes rows for which no partition was created in time.
DO $$
DECLARE
    kind record;
BEGIN
    PERFORM set_config('timezone', 'UTC', true);  -- spans begin and end by it
    FOR kind IN SELECT * FROM partitioned_tables() ORDER BY name LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L)', kind.name || '_before',
                       kind.name, date_trunc(kind.span, now(), 'UTC') + ('1 ' || kind.span)::interval);
        EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', kind.name || '_rest', kind.name);
        PERFORM fence_partition(kind.name || '_before'), fence_partition(kind.name || '_rest');
    END LOOP;
END
$$;

-- Create the missing ones of the current and next partitions; return how many. Rows that meanwhile came into the
-- default partition move to theirs, unless they are too many to move under a lock; then they stay until they expire.
--
-- This and drop_partitions run as the owner, since only a table's owner changes its partitions. Names come from the
-- list above, numbers from the caller. A call that cannot get a lock at once gives up, and is repeated later.
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
                CONTINUE WHEN stray > moved_most OR (stray > 0 AND kind.name = 'audit_log');  -- from which nothing is deleted
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

-- Drop the partitions in which each row ended at least so many days ago, and delete such rows of the default partition.
-- Return how many partitions and rows went.
CREATE FUNCTION drop_partitions(kind text, days integer, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        kept  CONSTANT timestamptz := now() - make_interval(days => days);
        needed CONSTANT text[] := CASE kind  -- rows that stay; an index finds each
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
            CONTINUE WHEN found;  -- checked before anybody has to wait
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
