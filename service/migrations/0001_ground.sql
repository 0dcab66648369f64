-- Roles, rights on the schema, and the tables and functions that all areas use.
--
-- There are three roles. The owner runs these files. cushion_service is the role of the service: it owns nothing, and row
-- security shows it only the rows of the transaction's tenant. cushion_definer owns the functions that must look across
-- tenants (login, look-up of keys, start of jobs). It cannot log in.

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

-- Only the owner creates objects in the schema public. A database that was upgraded from PostgreSQL 14 or earlier still
-- lets everybody do so: an operator that fits better than the built-in one would run with the rights of cushion_definer.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO cushion_service, cushion_definer;

-- Many rows arrive by COPY into a temporary table.
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO cushion_service', current_database()); END $$;

CREATE FUNCTION current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('cushion.tenant', true), '')::uuid;

-- Which deployment a store belongs to: nothing is removed from one that another deployment writes into.
CREATE TABLE deployment (id uuid NOT NULL);
GRANT SELECT ON deployment TO cushion_service;
INSERT INTO deployment VALUES (gen_random_uuid());

-- One row, changed as a whole under its lock. Processes have copies, and compare the version.
CREATE TABLE switches (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    version     bigint NOT NULL DEFAULT 1,
    maintenance jsonb,                       -- null: off; else message, since, expected_end
    flags       jsonb NOT NULL DEFAULT '{}'  -- by name, only what was set: enabled, tenants {id: enabled}
);
INSERT INTO switches DEFAULT VALUES;
GRANT SELECT, UPDATE ON switches TO cushion_service;

-- What this server's list of zones does not have is UTC, as in the service.
CREATE FUNCTION day_in_zone(moment timestamptz, zone text) RETURNS date
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        RETURN (moment AT TIME ZONE zone)::date;
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN (moment AT TIME ZONE 'UTC')::date;
    END
    $$;

CREATE FUNCTION announce_state() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_states', NEW.tenant_id || ' ' || NEW.id); RETURN NULL; END $$;
