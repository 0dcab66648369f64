-- Reports: documents that a job makes of a stored run, or of a stored comparison.

CREATE TABLE reports (
    tenant_id     uuid NOT NULL REFERENCES tenants,
    id            uuid NOT NULL,
    report_type   text NOT NULL CHECK (report_type IN ('compliance', 'reconciliation')),
    format        text NOT NULL CHECK (format IN ('pdf', 'xlsx')),
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'generating', 'completed', 'failed')),
    filename      text NOT NULL,
    workbook_id   uuid NOT NULL,
    run_id        uuid,  -- what it shows: of a compliance report
    tape_id       text,
    job_id        text,  -- the comparison, of a reconciliation report
    options       json NOT NULL,  -- all of them, as it goes by them
    document_id   uuid,
    error_details text,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    completed_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((report_type = 'compliance') = (run_id IS NOT NULL)),
    CHECK ((report_type = 'reconciliation') = (tape_id IS NOT NULL AND job_id IS NOT NULL)),
    CHECK ((status = 'completed') = (document_id IS NOT NULL)),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES compliance_runs (tenant_id, id),
    FOREIGN KEY (tenant_id, tape_id) REFERENCES tapes (tenant_id, id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES reconciliations (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id)
);
CREATE INDEX reports_created ON reports (tenant_id, created_at DESC);

ALTER TABLE reports ENABLE ROW LEVEL SECURITY;
ALTER TABLE reports FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reports TO cushion_service USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON reports TO cushion_service;
