-- Reconciliation: trustees' tapes, comparisons with workbooks, and their issues.

CREATE TABLE tapes (
    tenant_id         uuid NOT NULL REFERENCES tenants,
    id                text NOT NULL,  -- tape_...
    job_id            text NOT NULL,  -- job_...
    trustee_name      text NOT NULL CHECK (trustee_name IN ('trustee_a', 'trustee_b', 'trustee_c')),
    statement_date    date NOT NULL,
    file_name         text NOT NULL,
    file_size         bigint NOT NULL,
    content_hash      text NOT NULL,  -- SHA-256 of the uploaded file, its key in the blob store
    loan_count        integer NOT NULL DEFAULT 0,
    total_par         double precision NOT NULL DEFAULT 0,
    processing_status text NOT NULL CHECK (processing_status IN ('processing', 'completed', 'failed')),
    error_message     text,
    loans_key         text,  -- the blob of the stored loans; null until processed
    facts             json NOT NULL DEFAULT '{}',  -- the sheet, its header, the columns, rows left out
    created_by        text NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    processed_at      timestamptz,
    deal_id           uuid,
    as_of             date,
    mapping_id        text,
    own_mapping_id    text GENERATED ALWAYS AS (
        CASE WHEN processing_status <> 'failed' AND mapping_id NOT LIKE 'standard\_%' THEN mapping_id END
    ) STORED,
    warnings          json NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT tapes_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id),
    CONSTRAINT tapes_deal FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE SET NULL (deal_id)
);
CREATE INDEX tapes_created ON tapes (tenant_id, created_at DESC);
CREATE INDEX tapes_content ON tapes (content_hash);
CREATE INDEX tapes_loans ON tapes (loans_key);
CREATE INDEX tapes_of_deal ON tapes (tenant_id, deal_id, created_at DESC) WHERE deal_id IS NOT NULL;
CREATE INDEX tapes_own_mapping ON tapes (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;
ALTER TABLE tapes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tapes TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON tapes TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON tapes TO cushion_service;
GRANT SELECT ON tapes TO cushion_definer;
CREATE TRIGGER tapes_state AFTER UPDATE OF processing_status ON tapes FOR EACH ROW
    WHEN (OLD.processing_status IS DISTINCT FROM NEW.processing_status) EXECUTE FUNCTION announce_state();

CREATE TABLE reconciliations (
    tenant_id     uuid NOT NULL,
    id            text NOT NULL,  -- rec_...
    tape_id       text NOT NULL,
    workbook_id   uuid NOT NULL,
    status        text NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
    rules         text[] NOT NULL,
    tolerances    json NOT NULL,
    inputs_key    text NOT NULL,  -- SHA-256 of the request: equal keys, equal comparisons
    summary       json,
    match_stages  json,
    ambiguous     json,
    warnings      json NOT NULL DEFAULT '[]',
    not_compared  json NOT NULL DEFAULT '{}',
    changes       json,  -- counts of issues created, updated and resolved; null until they are stored
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
ALTER TABLE reconciliations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reconciliations TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliations TO cushion_service;
CREATE TRIGGER reconciliations_state AFTER UPDATE OF status ON reconciliations FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_state();

-- Up to a million for a comparison. So keys compare byte by byte, and there is no foreign key to look up for each row
-- (4 s for a million): reconciliation_counts, written with them, has it.
CREATE TABLE reconciliation_issues (
    tenant_id          uuid NOT NULL,
    id                 text COLLATE "C" NOT NULL,  -- iss_..., in the comparison's order
    tape_id            text COLLATE "C" NOT NULL,
    workbook_id        uuid NOT NULL,
    loan_key           text COLLATE "C" NOT NULL,  -- the loan within tape and workbook
    primary_identifier text,
    cusip              text,
    identifier_type    text NOT NULL,
    borrower_name      text,
    issue_type         text COLLATE "C" NOT NULL CHECK (
        issue_type IN ('value_mismatch', 'missing_in_internal', 'missing_in_trustee', 'duplicate_position')),
    severity           text NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
    gravity            smallint GENERATED ALWAYS AS (
        array_position(ARRAY['critical', 'error', 'warning', 'info'], severity)) STORED,
    category           text NOT NULL,
    rule               text NOT NULL,
    field_name         text COLLATE "C" NOT NULL,
    trustee_value      text NOT NULL,
    internal_value     text NOT NULL,
    status             text NOT NULL DEFAULT 'open'
                       CHECK (status IN ('open', 'acknowledged', 'resolved', 'false_positive')),
    gone               boolean NOT NULL DEFAULT false,  -- resolved by a later comparison without it
    resolution_notes   text,
    reviewed_by        text,  -- null if nobody did, or a comparison reset the status
    reviewed_at        timestamptz,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz,
    trustee_row        integer,  -- row of the loan in the tape's sheet, from 1; null if the tape lacks the loan
    internal_row       integer,  -- the same in the workbook
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT reconciliation_issues_key UNIQUE (tenant_id, tape_id, workbook_id, loan_key, field_name, issue_type)
);
CREATE INDEX reconciliation_issues_grave ON reconciliation_issues (tenant_id, tape_id, gravity, id);
ALTER TABLE reconciliation_issues ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reconciliation_issues TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliation_issues TO cushion_service;

-- The number of issues of each kind: counting a million rows takes a second.
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
ALTER TABLE reconciliation_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reconciliation_counts TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliation_counts TO cushion_service;
