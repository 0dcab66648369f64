-- A tape may be read by a mapping; it holds one of the tenant's own as workbooks and deals do, unless it failed.
ALTER TABLE tapes
    ADD COLUMN mapping_id text,
    ADD COLUMN own_mapping_id text GENERATED ALWAYS AS (
        CASE WHEN processing_status <> 'failed' AND mapping_id NOT LIKE 'standard\_%' THEN mapping_id END
    ) STORED,
    ADD CONSTRAINT tapes_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id);
CREATE INDEX tapes_own_mapping ON tapes (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;
