-- Mappings, trustee tapes and reconciliation.

CREATE TABLE mappings (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               text NOT NULL,
    name             text NOT NULL,
    description      text,
    source_type      text NOT NULL CHECK (source_type IN ('clo_holdings', 'servicer_snapshot', 'custom')),
    profile_id       text,
    mappings         json NOT NULL,  -- json, not jsonb: the order of the source columns is their preference
    transforms       json NOT NULL,
    validation_rules json NOT NULL,
    field_count      integer NOT NULL,  -- those of the profile included
    created_by       text NOT NULL,
    version          integer NOT NULL DEFAULT 1,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT mappings_name_key UNIQUE (tenant_id, name)
);
CREATE INDEX mappings_created ON mappings (tenant_id, created_at DESC);

-- The built-in profile of servicers was called otherwise; without FORCE the owner sees every row.
ALTER TABLE workbooks NO FORCE ROW LEVEL SECURITY;
UPDATE workbooks SET mapping_id = 'standard_servicer' WHERE mapping_id = 'servicer_snapshot';
ALTER TABLE workbooks FORCE ROW LEVEL SECURITY;

-- A workbook that is there holds its own mapping; a deleted one lets go of it, its evidence has a copy.
ALTER TABLE workbooks
    ADD COLUMN own_mapping_id text GENERATED ALWAYS AS (
        CASE WHEN deleted_at IS NULL AND mapping_id NOT LIKE 'standard\_%' THEN mapping_id END
    ) STORED,
    ADD CONSTRAINT workbooks_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id);
CREATE INDEX workbooks_own_mapping ON workbooks (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;

CREATE TABLE tapes (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                text NOT NULL,  -- tape_...
    job_id            text NOT NULL,  -- job_...
    trustee_name      text NOT NULL CHECK (trustee_name IN ('trustee_a', 'trustee_b', 'trustee_c')),
    statement_date    date NOT NULL,
    file_name         text NOT NULL,
    file_size         bigint NOT NULL,
    content_hash      text NOT NULL,  -- SHA-256 of the uploaded file: its key in the blob store
    loan_count        integer NOT NULL DEFAULT 0,
    total_par         double precision NOT NULL DEFAULT 0,
    processing_status text NOT NULL CHECK (processing_status IN ('processing', 'completed', 'failed')),
    error_message     text,
    loans_key         text,  -- the blob of the stored loans; null until processed
    facts             json NOT NULL DEFAULT '{}',  -- what was found: the sheet, its header, the columns, rows left out
    created_by        text NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    processed_at      timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX tapes_created ON tapes (tenant_id, created_at DESC);
CREATE INDEX tapes_content ON tapes (content_hash);
CREATE INDEX tapes_loans ON tapes (loans_key);

CREATE TABLE reconciliations (
    tenant_id     uuid NOT NULL,
    id            text NOT NULL,  -- rec_...
    tape_id       text NOT NULL,
    workbook_id   uuid NOT NULL,
    status        text NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
    rules         text[] NOT NULL,
    tolerances    json NOT NULL,
    inputs_key    text NOT NULL,  -- SHA-256 of all that was asked for: the same key, the same comparison
    summary       json,
    match_stages  json,
    ambiguous     json,
    warnings      json NOT NULL DEFAULT '[]',
    not_compared  json NOT NULL DEFAULT '{}',
    changes       json,  -- issues created, updated and resolved; written with them, so null until they are stored
    timings       json,
    error_message text,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    completed_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, tape_id) REFERENCES tapes (tenant_id, id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id)
);
CREATE INDEX reconciliations_tape ON reconciliations (tenant_id, tape_id, workbook_id, created_at DESC);

-- Up to a million a comparison, so keys compare byte by byte, and no foreign key is looked up for each row (4 s of a
-- million): the counts below, written with them, have it.
CREATE TABLE reconciliation_issues (
    tenant_id          uuid NOT NULL,
    id                 text COLLATE "C" NOT NULL,  -- iss_...; those of one comparison in its order
    tape_id            text COLLATE "C" NOT NULL,
    workbook_id        uuid NOT NULL,
    loan_key           text COLLATE "C" NOT NULL,  -- names the loan within tape and workbook
    primary_identifier text,
    cusip              text,
    identifier_type    text NOT NULL,
    borrower_name      text,
    issue_type         text COLLATE "C" NOT NULL CHECK (issue_type IN ('value_mismatch', 'missing_in_internal', 'missing_in_trustee', 'duplicate_position')),
    severity           text NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
    gravity            smallint GENERATED ALWAYS AS (array_position(ARRAY['critical', 'error', 'warning', 'info'], severity)) STORED,
    category           text NOT NULL,
    rule               text NOT NULL,
    field_name         text COLLATE "C" NOT NULL,
    trustee_value      text NOT NULL,
    internal_value     text NOT NULL,
    status             text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'acknowledged', 'resolved', 'false_positive')),
    gone               boolean NOT NULL DEFAULT false,  -- resolved by a comparison that did not find it any more
    resolution_notes   text,
    reviewed_by        text,  -- who changed it last; null where nobody did, or where a comparison set its status anew
    reviewed_at        timestamptz,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT reconciliation_issues_key UNIQUE (tenant_id, tape_id, workbook_id, loan_key, field_name, issue_type)
);
CREATE INDEX reconciliation_issues_grave ON reconciliation_issues (tenant_id, tape_id, gravity, id);

-- How many issues of each kind there are: counting a million rows takes a second.
CREATE TABLE reconciliation_counts (
    tenant_id   uuid NOT NULL,
    tape_id     text COLLATE "C" NOT NULL,
    workbook_id uuid NOT NULL,
    severity    text NOT NULL,
    category    text NOT NULL,
    status      text NOT NULL,
    issues      bigint NOT NULL,
    PRIMARY KEY (tenant_id, tape_id, workbook_id, severity, category, status),
    FOREIGN KEY (tenant_id, tape_id) REFERENCES tapes (tenant_id, id)
);

-- All that a tenant keeps as files, for the limit of its storage.
CREATE FUNCTION stored_bytes() RETURNS bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT coalesce((SELECT sum(file_size) FROM workbooks WHERE deleted_at IS NULL), 0)::bigint
             + coalesce((SELECT sum(file_size) FROM tapes), 0)::bigint
    $$;

CREATE OR REPLACE FUNCTION blob_is_used(wanted text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM workbooks w WHERE w.content_hash = wanted)
            OR EXISTS (SELECT FROM sheets s WHERE s.blob_key = wanted)
            OR EXISTS (SELECT FROM tapes t WHERE t.content_hash = wanted OR t.loans_key = wanted)
    $$;

-- The tenant as a subquery: a statement over a million rows asks for it once.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['mappings', 'tapes', 'reconciliations', 'reconciliation_issues', 'reconciliation_counts']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cushion_service', name);
    END LOOP;
END
$$;
CREATE POLICY definer ON tapes TO cushion_definer USING (true);
GRANT SELECT ON tapes TO cushion_definer;
REVOKE ALL ON FUNCTION stored_bytes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stored_bytes() TO cushion_service;

-- Many issues arrive through a temporary table.
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO cushion_service', current_database()); END $$;
