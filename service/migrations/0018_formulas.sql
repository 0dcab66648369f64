-- The formula builder: configurations with their versions, and what became of applying one to a sheet's column.

CREATE TABLE formula_configs (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            text NOT NULL,
    name          text NOT NULL,
    description   text,
    template_id   text NOT NULL,
    input_schema  json,  -- json, not jsonb: these are given back as they were written
    output_schema json,
    mode          text NOT NULL CHECK (mode IN ('builder', 'advanced')),
    status        text NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    version_count integer NOT NULL,  -- the newest version is the current one
    created_by    text NOT NULL,
    revision      integer NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX formula_configs_created ON formula_configs (tenant_id, created_at DESC);

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

-- The record that writes a column of a workbook: meanwhile the old columns are read, and nobody else may write.
ALTER TABLE workbooks ADD COLUMN written_by text;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['formula_configs', 'formula_versions', 'formula_runs']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
