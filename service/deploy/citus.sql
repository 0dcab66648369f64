-- Spreads a copy of the database over servers by Citus, a tenant's rows together on one of them: to see what that takes.
--
--   psql --set ON_ERROR_STOP=1 --single-transaction --file service/deploy/citus.sql <a copy of the database>
--
-- It reads the schema itself. pg_temp.citus_obstacles() names what breaks a rule of Citus, pg_temp.citus_plan() the
-- statements that spread the tables. Where the extension is there the plan is carried out; else both are only told.
-- A copy it is for: the plan takes the uniqueness of a few values over all tenants away, on which logins and keys rely.
-- docs/operations/sizing.md ("Past one PostgreSQL") says what the service would have to do in its place.

CREATE FUNCTION pg_temp.citus_tables() RETURNS TABLE (name regclass, of_tenants boolean)
    LANGUAGE sql STABLE AS $$
    SELECT c.oid::regclass, EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
$$;

-- Indexes that keep something unique, or apart, of a tenant's table without looking at the tenant.
CREATE FUNCTION pg_temp.citus_unique_elsewhere() RETURNS TABLE (name regclass, of_table regclass, of_constraint text)
    LANGUAGE sql STABLE AS $$
    SELECT i.indexrelid::regclass, t.name, (SELECT k.conname FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
    FROM pg_temp.citus_tables() t JOIN pg_index i ON i.indrelid = t.name
    WHERE t.of_tenants AND (i.indisunique OR i.indisexclusion)
      AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.name AND a.attname = 'tenant_id'
                                                   AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
$$;

CREATE FUNCTION pg_temp.citus_obstacles() RETURNS TABLE (rule text, object text)
    LANGUAGE sql STABLE AS $$
    SELECT 'tenant_id is not a uuid that is always there', t.name::text
    FROM pg_temp.citus_tables() t JOIN pg_attribute a ON a.attrelid = t.name AND a.attname = 'tenant_id'
    WHERE a.atttypid <> 'uuid'::regtype OR NOT a.attnotnull
    UNION ALL
    SELECT 'no primary key', t.name::text FROM pg_temp.citus_tables() t
    WHERE t.of_tenants AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.name AND i.indisprimary)
    UNION ALL
    SELECT 'unique over all tenants', u.name::text FROM pg_temp.citus_unique_elsewhere() u
    UNION ALL
    -- Between tenants' tables tenant_id refers to tenant_id: so both rows are on one server.
    SELECT 'foreign key without the tenant', k.conname::text
    FROM pg_constraint k
    JOIN pg_temp.citus_tables() f ON f.name = k.conrelid JOIN pg_temp.citus_tables() t ON t.name = k.confrelid
    WHERE k.contype = 'f' AND f.of_tenants AND t.of_tenants AND NOT EXISTS (
        SELECT FROM generate_subscripts(k.conkey, 1) n
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[n]
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[n]
        WHERE a.attname = 'tenant_id' AND b.attname = 'tenant_id')
    UNION ALL
    SELECT 'a table of every server refers to a tenant''s', k.conname::text
    FROM pg_constraint k
    JOIN pg_temp.citus_tables() f ON f.name = k.conrelid JOIN pg_temp.citus_tables() t ON t.name = k.confrelid
    WHERE k.contype = 'f' AND NOT f.of_tenants AND t.of_tenants
    UNION ALL
    -- SET NULL and SET DEFAULT must spare the column by which rows are spread.
    SELECT 'a foreign key would empty tenant_id', k.conname::text
    FROM pg_constraint k JOIN pg_temp.citus_tables() f ON f.name = k.conrelid
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'tenant_id' AND a.attnum = ANY (k.conkey)
    WHERE k.contype = 'f' AND (k.confupdtype IN ('n', 'd')
        OR (k.confdeltype IN ('n', 'd') AND (k.confdelsetcols IS NULL OR a.attnum = ANY (k.confdelsetcols))))
    UNION ALL
    SELECT 'numbers itself, by a type that is not bigint', format('%s.%s', t.name, a.attname)
    FROM pg_temp.citus_tables() t JOIN pg_attribute a ON a.attrelid = t.name
    WHERE t.of_tenants AND a.attidentity <> '' AND a.atttypid <> 'bigint'::regtype
    ORDER BY 1, 2
$$;

-- The statements in their order: what every server has, then each tenant's table behind those that it refers to.
CREATE FUNCTION pg_temp.citus_plan() RETURNS TABLE (step bigint, statement text)
    LANGUAGE sql STABLE AS $$
    WITH RECURSIVE refers AS (
        SELECT k.conrelid AS name, k.confrelid AS named FROM pg_constraint k
        JOIN pg_temp.citus_tables() f ON f.name = k.conrelid JOIN pg_temp.citus_tables() t ON t.name = k.confrelid
        WHERE k.contype = 'f' AND f.of_tenants AND t.of_tenants AND k.conrelid <> k.confrelid
    ), depth AS (
        SELECT t.name::oid AS name, 0 AS depth FROM pg_temp.citus_tables() t WHERE t.of_tenants
        UNION
        SELECT r.name, d.depth + 1 FROM depth d JOIN refers r ON r.named = d.name WHERE d.depth < 100
    ), statements AS (
        SELECT 1 AS part, 0 AS depth, u.name::text AS name, CASE WHEN u.of_constraint IS NULL
            THEN format('DROP INDEX %s', u.name) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', u.of_table, u.of_constraint) END AS statement
        FROM pg_temp.citus_unique_elsewhere() u
        UNION ALL  -- the same index, for looking up alone
        SELECT 2, 0, u.name::text, replace(pg_get_indexdef(u.name), 'CREATE UNIQUE INDEX', 'CREATE INDEX')
        FROM pg_temp.citus_unique_elsewhere() u
        UNION ALL
        SELECT 3, 0, t.name::text, format('SELECT create_reference_table(%L)', t.name)
        FROM pg_temp.citus_tables() t WHERE NOT t.of_tenants AND t.name <> 'migrations'::regclass
        UNION ALL
        SELECT 4, max(d.depth), d.name::regclass::text,
               format('SELECT create_distributed_table(%L, %L, colocate_with => %L)', d.name::regclass, 'tenant_id',
                      CASE WHEN d.name = 'users'::regclass THEN 'none' ELSE 'users' END)
        FROM depth d GROUP BY d.name
    )
    SELECT row_number() OVER (ORDER BY part, (name <> 'users')::integer * (depth + 1), name), statement FROM statements
$$;

DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT * FROM pg_temp.citus_obstacles() LOOP
        RAISE NOTICE 'obstacle: %: %', found.rule, found.object;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        RAISE NOTICE 'the extension citus is not in this database: nothing was changed';
        RETURN;
    END IF;
    PERFORM set_config('citus.enable_unsafe_triggers', 'on', true);
    FOR found IN SELECT * FROM pg_temp.citus_plan() ORDER BY step LOOP
        EXECUTE found.statement;
    END LOOP;
END
$$;
