-- Roles, rights on the schema, and the tables and functions that all areas use.
--
-- There are three roles. The owner runs these files. cushion_service is the service's own role. It owns nothing, and
-- row security shows it the rows of the transaction's tenant. cushion_definer owns the functions that look across
-- tenants (logins, API keys, jobs), and cannot log in.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_service') THEN
        CREATE ROLE cushion_service LOGIN;  -- without a password: the owner gives it one, or it comes by a local socket
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_definer') THEN
        CREATE ROLE cushion_definer NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- another database of this server has just created them
END
$$;
GRANT cushion_service, cushion_definer TO CURRENT_USER;

-- Only the owner creates objects in the schema public. A database from PostgreSQL 14 or earlier lets everybody do so,
-- and an operator that fits better than the built-in one would then run with the rights of cushion_definer.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO cushion_service, cushion_definer;

-- Many rows arrive by COPY into a temporary table.
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO cushion_service', current_database()); END $$;

-- The tenant that the transaction named; null before it named one.
CREATE FUNCTION current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('cushion.tenant', true), '')::uuid;

-- The deployment's identifier. It removes nothing from a blob store that another deployment writes to.
CREATE TABLE deployment (id uuid NOT NULL);
GRANT SELECT ON deployment TO cushion_service;
INSERT INTO deployment VALUES (gen_random_uuid());

-- Maintenance mode and feature flags: one row, replaced under its lock. Processes keep copies and compare versions.
CREATE TABLE switches (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    version     bigint NOT NULL DEFAULT 1,
    maintenance jsonb,                       -- null: off; otherwise message, since, expected_end
    flags       jsonb NOT NULL DEFAULT '{}'  -- by name, if ever set: enabled, tenants {id: enabled}
);
INSERT INTO switches DEFAULT VALUES;
GRANT SELECT, UPDATE ON switches TO cushion_service;

-- The day of a moment. A zone that this server does not know counts as UTC, as in the service.
CREATE FUNCTION day_in_zone(moment timestamptz, zone text) RETURNS date
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        RETURN (moment AT TIME ZONE zone)::date;
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN (moment AT TIME ZONE 'UTC')::date;
    END
    $$;

-- Wake requests that wait for a record's state (?wait=). The message has identifiers only.
CREATE FUNCTION announce_state() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_states', NEW.tenant_id || ' ' || NEW.id); RETURN NULL; END $$;
