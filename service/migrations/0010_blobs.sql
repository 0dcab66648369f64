-- Which bytes each tenant keeps in the blob store: storage is counted by it, and what nothing names any more is freed.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

-- Written in the transaction of the record that names the blob. No foreign key: it would make every job that stores
-- columns wait for the tenant's uploads, which hold the tenant's row while their bytes are on the way.
CREATE TABLE blobs (
    tenant_id  uuid NOT NULL,
    key        text COLLATE "C" NOT NULL,  -- SHA-256 of the bytes
    size_bytes bigint,                     -- null: stored before sizes were kept, and not looked at since
    stored_at  timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz NOT NULL DEFAULT now(),  -- when its hash was last found right, or the look at it began
    damaged_at timestamptz,  -- when its bytes were found missing, short or altered
    left_at    timestamptz,  -- when a record that named it ceased to; whether another one does is looked up later
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX blobs_key ON blobs (key);
CREATE INDEX blobs_checked ON blobs (checked_at);
CREATE INDEX blobs_left ON blobs (left_at) WHERE left_at IS NOT NULL;

ALTER TABLE blobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE blobs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON blobs TO cushion_service USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON blobs TO cushion_definer USING (true);
CREATE POLICY definer ON compliance_runs TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON blobs TO cushion_service;
GRANT SELECT, INSERT, UPDATE ON blobs TO cushion_definer;  -- INSERT: for what is there already, below
GRANT SELECT (tenant_id, workbook_id) ON compliance_runs TO cushion_definer;

-- What the records name. A deleted workbook with runs keeps its bytes: they are what the runs can be repeated from.
CREATE VIEW named_blobs WITH (security_invoker = true) AS
    WITH kept AS NOT MATERIALIZED (
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size FROM workbooks w
        WHERE w.deleted_at IS NULL
           OR EXISTS (SELECT FROM compliance_runs r WHERE r.tenant_id = w.tenant_id AND r.workbook_id = w.id)
    )
    SELECT k.tenant_id, k.content_hash AS key, k.file_size AS size_bytes FROM kept k
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL FROM sheets s JOIN kept k ON k.tenant_id = s.tenant_id AND k.id = s.workbook_id
    WHERE s.blob_key IS NOT NULL
    UNION ALL
    SELECT t.tenant_id, t.content_hash, t.file_size FROM tapes t
    UNION ALL
    SELECT t.tenant_id, t.loans_key, NULL FROM tapes t WHERE t.loans_key IS NOT NULL;
GRANT SELECT ON named_blobs TO cushion_service, cushion_definer;

-- What is there already; looked at first, since nobody ever has.
SET LOCAL ROLE cushion_definer;
INSERT INTO blobs (tenant_id, key, size_bytes, checked_at)
    SELECT tenant_id, key, max(size_bytes), '-infinity' FROM named_blobs GROUP BY tenant_id, key;
RESET ROLE;
REVOKE INSERT ON blobs FROM cushion_definer;

-- Which deployment a store belongs to: nothing is removed from one that another deployment writes into.
CREATE TABLE deployment (id uuid NOT NULL);
INSERT INTO deployment VALUES (gen_random_uuid());
GRANT SELECT ON deployment TO cushion_service;

CREATE OR REPLACE FUNCTION stored_bytes() RETURNS bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT coalesce(sum(size_bytes), 0)::bigint FROM blobs $$;

CREATE OR REPLACE FUNCTION blob_is_used(wanted text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM blobs b WHERE b.key = wanted) OR EXISTS (SELECT FROM named_blobs n WHERE n.key = wanted)
    $$;

CREATE FUNCTION left_blobs(seconds integer, most integer) RETURNS TABLE (tenant_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT b.tenant_id, b.key FROM blobs b WHERE b.left_at < now() - make_interval(secs => seconds)
        ORDER BY b.left_at LIMIT most
    $$;

-- Of keys that stand in the store, those that nobody uses; sizes that were not known are learned from it.
CREATE FUNCTION unused_blobs(keys text[], sizes bigint[]) RETURNS SETOF text
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE blobs b SET size_bytes = l.size FROM unnest(keys, sizes) AS l (key, size)
        WHERE b.key = l.key AND b.size_bytes IS NULL AND l.size IS NOT NULL;
        SELECT wanted FROM unnest(keys) AS wanted
        WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.key = wanted) AND NOT blob_is_used(wanted)
    $$;

-- The blob whose last look lies furthest back, for whoever asks to look at it now.
CREATE FUNCTION claim_blob_check(seconds integer) RETURNS text
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH claimed AS (
            UPDATE blobs SET checked_at = now() WHERE key = (
                SELECT b.key FROM blobs b WHERE b.checked_at < now() - make_interval(secs => seconds)
                ORDER BY b.checked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING key
        )
        SELECT key FROM claimed LIMIT 1
    $$;

CREATE FUNCTION blob_holders(wanted text) RETURNS TABLE (tenant_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT b.tenant_id FROM blobs b WHERE b.key = wanted AND b.damaged_at IS NULL $$;

-- Of the caller's tenant: no figure may come from these bytes any more.
CREATE FUNCTION give_up_blob(wanted text) RETURNS TABLE (kind text, id text, name text, reason text)
    LANGUAGE sql SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH book AS (
            UPDATE workbooks w
            SET status = 'error', error_message = 'The stored columns of the workbook are damaged; upload the file again.',
                version = version + 1, updated_at = now()
            WHERE w.status = 'ready' AND w.deleted_at IS NULL
              AND EXISTS (SELECT FROM sheets s WHERE s.tenant_id = w.tenant_id AND s.workbook_id = w.id AND s.blob_key = wanted)
            RETURNING w.id, w.name, w.error_message
        ), tape AS (
            UPDATE tapes t
            SET processing_status = 'failed', error_message = 'The stored loans of the tape are damaged; upload the file again.'
            WHERE t.processing_status = 'completed' AND t.loans_key = wanted
            RETURNING t.id, t.file_name, t.error_message
        )
        SELECT 'workbook', book.id::text, book.name, book.error_message FROM book
        UNION ALL SELECT 'tape', tape.id, tape.file_name, tape.error_message FROM tape
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['left_blobs(integer, integer)', 'unused_blobs(text[], bigint[])', 'claim_blob_check(integer)', 'blob_holders(text)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION give_up_blob(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION give_up_blob(text) TO cushion_service;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
