-- Dead letters that are looked at: given back, resolved, discarded; by a tenant's admins, and across tenants by who runs
-- the deployment.

ALTER TABLE dead_letters ADD COLUMN retry_count integer NOT NULL DEFAULT 0,  -- how often its work was given back, itself and those before it
                         ADD COLUMN last_retry_at timestamptz,
                         ADD COLUMN retry_task_id text,
                         ADD COLUMN resolved_at timestamptz,
                         ADD COLUMN resolution_notes text;
CREATE INDEX dead_letters_id ON dead_letters (id);
CREATE INDEX dead_letters_task ON dead_letters (original_task_id);
CREATE INDEX dead_letters_retry ON dead_letters (tenant_id, retry_task_id) WHERE retry_task_id IS NOT NULL;
CREATE INDEX dead_letters_time ON dead_letters (tenant_id, failed_at DESC);
CREATE INDEX dead_letters_everywhere ON dead_letters (failed_at DESC);

-- A view rather than a function, so that a page is read by the indexes. It shows the rows by its owner's rights, and
-- nothing is changed through it: whoever changes a dead letter does so as its tenant.
GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the view below; revoked at the end
CREATE POLICY definer ON dead_letters TO cushion_definer USING (true);
GRANT SELECT ON dead_letters TO cushion_definer;
CREATE VIEW every_dead_letter AS SELECT * FROM dead_letters;
GRANT SELECT ON every_dead_letter TO cushion_service;
ALTER VIEW every_dead_letter OWNER TO cushion_definer;
REVOKE ALL ON every_dead_letter FROM cushion_definer;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
