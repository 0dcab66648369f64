-- Workbooks, their files and sheets.

CREATE TABLE workbooks (
    tenant_id       uuid NOT NULL REFERENCES tenants,
    id              uuid NOT NULL,
    name            text NOT NULL,
    description     text,
    file_name       text NOT NULL,
    file_size       bigint NOT NULL,
    content_hash    text NOT NULL,  -- SHA-256 of the uploaded file, its key in the blob store
    status          text NOT NULL CHECK (status IN ('uploading', 'processing', 'ready', 'error', 'recalculating')),
    error_message   text,
    sheet_count     integer NOT NULL,
    total_cells     bigint NOT NULL DEFAULT 0,
    formula_cells   bigint NOT NULL DEFAULT 0,
    book            text,  -- manifest of the stored columns, as JSON: date system, formats, names, each sheet's blob
    book_key        text,  -- SHA-256 of the manifest: equal keys, equal columns
    mapping_id      text,
    stream_key      text,
    last_calculation timestamptz,
    calculation_count integer NOT NULL DEFAULT 0,
    created_by      text NOT NULL,
    version         integer NOT NULL DEFAULT 1,
    deleted_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    -- The tenant's own mapping is kept while the workbook is there. Runs have a copy of it.
    own_mapping_id  text GENERATED ALWAYS AS (
        CASE WHEN deleted_at IS NULL AND mapping_id NOT LIKE 'standard\_%' THEN mapping_id END
    ) STORED,
    deal_id         uuid,
    as_of           date,
    -- What needs the workbook to stay refers to this column, which is null once the workbook is deleted.
    live_id         uuid GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL THEN id END) STORED,
    written_by      text,  -- the record that writes a column now: others read the old columns, and none may write
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT workbooks_live UNIQUE (tenant_id, live_id),
    CONSTRAINT workbooks_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id),
    CONSTRAINT workbooks_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id)
        ON DELETE SET NULL (deal_id)
);
CREATE INDEX workbooks_created ON workbooks (tenant_id, created_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX workbooks_content ON workbooks (content_hash);
CREATE INDEX workbooks_own_mapping ON workbooks (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;
CREATE INDEX workbooks_of_deal ON workbooks (tenant_id, deal_id, created_at DESC) WHERE deal_id IS NOT NULL;
ALTER TABLE workbooks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON workbooks TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON workbooks TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON workbooks TO cushion_service;
GRANT SELECT, DELETE ON workbooks TO cushion_definer;
CREATE TRIGGER workbooks_state AFTER UPDATE OF status, written_by, deleted_at ON workbooks FOR EACH ROW
    WHEN ((OLD.status, OLD.written_by, OLD.deleted_at) IS DISTINCT FROM (NEW.status, NEW.written_by, NEW.deleted_at))
    EXECUTE FUNCTION announce_state();

-- The files of a workbook made of several. A single file is in the workbook's own row.
CREATE TABLE workbook_files (
    tenant_id    uuid NOT NULL,
    workbook_id  uuid NOT NULL,
    index        integer NOT NULL,
    file_name    text NOT NULL,
    file_size    bigint NOT NULL,
    content_hash text NOT NULL,
    PRIMARY KEY (tenant_id, workbook_id, index),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX workbook_files_content ON workbook_files (content_hash);
ALTER TABLE workbook_files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON workbook_files TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON workbook_files TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON workbook_files TO cushion_service;
GRANT SELECT ON workbook_files TO cushion_definer;

CREATE TABLE sheets (
    tenant_id     uuid NOT NULL,
    workbook_id   uuid NOT NULL,
    id            uuid NOT NULL,
    index         integer NOT NULL,
    name          text NOT NULL,
    state         text NOT NULL,
    row_count     integer NOT NULL,
    column_count  integer NOT NULL,
    formula_count integer NOT NULL DEFAULT 0,
    header_row    integer,  -- 0-based; null where the sheet has no header
    headers       jsonb NOT NULL DEFAULT '[]',
    types         text NOT NULL DEFAULT '',  -- types of the values, a letter a column: n s b d m -
    blob_key      text,     -- the stored columns; null until parsed
    PRIMARY KEY (tenant_id, workbook_id, index),
    UNIQUE (tenant_id, workbook_id, id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sheets_blob ON sheets (blob_key);
ALTER TABLE sheets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sheets TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON sheets TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON sheets TO cushion_service;
GRANT SELECT ON sheets TO cushion_definer;
