-- The formula builder: configurations, their versions, and runs that apply them to a sheet's column.

CREATE TABLE formula_configs (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            text NOT NULL,
    name          text NOT NULL,
    description   text,
    template_id   text NOT NULL,
    input_schema  json,  -- json, not jsonb: returned as they were written
    output_schema json,
    mode          text NOT NULL CHECK (mode IN ('builder', 'advanced')),
    status        text NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    version_count integer NOT NULL,  -- the newest is the current one
    created_by    text NOT NULL,
    revision      integer NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX formula_configs_created ON formula_configs (tenant_id, created_at DESC);
ALTER TABLE formula_configs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON formula_configs TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON formula_configs TO cushion_service;

CREATE TABLE formula_versions (
    tenant_id    uuid NOT NULL,
    config_id    text NOT NULL,
    number       integer NOT NULL,
    graph        json NOT NULL,
    change_notes text,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, config_id, number),
    FOREIGN KEY (tenant_id, config_id) REFERENCES formula_configs (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE formula_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON formula_versions TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON formula_versions TO cushion_service;

-- Wake requests that wait for the list of a formula's runs.
CREATE FUNCTION announce_run() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_states', NEW.tenant_id || ' ' || NEW.config_id); RETURN NULL; END $$;

CREATE TABLE formula_runs (
    tenant_id     uuid NOT NULL,
    id            text NOT NULL,
    config_id     text NOT NULL,
    number        integer NOT NULL,  -- of the version
    workbook_id   uuid NOT NULL,
    sheet_id      uuid NOT NULL,
    target_column text NOT NULL,
    output_mode   text NOT NULL CHECK (output_mode IN ('new', 'overwrite')),
    status        text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    rows_affected integer NOT NULL DEFAULT 0,
    rows_failed   integer NOT NULL DEFAULT 0,
    error_details text,
    created_by    text NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT now(),
    completed_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, config_id, number) REFERENCES formula_versions (tenant_id, config_id, number) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX formula_runs_of_config ON formula_runs (tenant_id, config_id, started_at DESC);
CREATE INDEX formula_runs_of_workbook ON formula_runs (tenant_id, workbook_id);
ALTER TABLE formula_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON formula_runs TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON formula_runs TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON formula_runs TO cushion_service;
GRANT SELECT, DELETE ON formula_runs TO cushion_definer;
CREATE TRIGGER formula_runs_state AFTER UPDATE OF status ON formula_runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_run();

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

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

REVOKE ALL ON FUNCTION forget_formula_runs(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_formula_runs(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
