-- What who runs the deployment switches: maintenance, and features that are on or off, by tenant too.

-- One row, changed as a whole under its lock. Processes have copies, and compare the version.
CREATE TABLE switches (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    version     bigint NOT NULL DEFAULT 1,
    maintenance jsonb,                       -- null: off; else message, since, expected_end
    flags       jsonb NOT NULL DEFAULT '{}'  -- by name, only what was set: enabled, tenants {id: enabled}
);
INSERT INTO switches DEFAULT VALUES;
GRANT SELECT, UPDATE ON switches TO cushion_service;

-- Tenants by identifier or slug, for who runs the deployment.
GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end
CREATE FUNCTION tenants_called(wanted text[]) RETURNS TABLE (name text, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT w.name, t.id FROM unnest(wanted) AS w (name) JOIN tenants t ON t.slug = w.name
        UNION
        SELECT w.name, t.id FROM unnest(wanted) AS w (name) JOIN tenants t ON t.id::text = lower(w.name)
    $$;

-- The slugs that begin alike: what a misspelt one may have meant.
CREATE FUNCTION slugs_beginning(beginning text, most integer) RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT t.slug FROM tenants t WHERE starts_with(t.slug, beginning) ORDER BY t.slug LIMIT most $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenants_called(text[])', 'slugs_beginning(text, integer)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
