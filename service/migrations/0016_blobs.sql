-- Which bytes each tenant keeps in the blob store: for the limit of storage, and to free what nothing names any more.

-- Written in the transaction of the record that names the blob. A foreign key to the tenant would make each job that
-- stores columns wait for the tenant's uploads, which lock the tenant's row while their bytes arrive.
CREATE TABLE blobs (
    tenant_id  uuid NOT NULL,
    key        text COLLATE "C" NOT NULL,  -- SHA-256 of the bytes
    size_bytes bigint,                     -- null: not known yet
    stored_at  timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz NOT NULL DEFAULT now(),  -- when its hash was last right, or the current check began
    damaged_at timestamptz,  -- when its bytes were found missing, short or altered
    left_at    timestamptz,  -- when a record ceased to name it; others may still do
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX blobs_key ON blobs (key);
CREATE INDEX blobs_checked ON blobs (checked_at);
CREATE INDEX blobs_left ON blobs (left_at) WHERE left_at IS NOT NULL;
ALTER TABLE blobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON blobs TO cushion_service
    USING (tenant_id = current_tenant()) WITH CHECK (tenant_id = current_tenant());
CREATE POLICY definer ON blobs TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON blobs TO cushion_service;
GRANT SELECT, UPDATE ON blobs TO cushion_definer;

-- The blobs that records name. Those of a deleted workbook are kept while one of its runs is within its retention, as
-- are the sheets that evidence needs. `kept_until` is that moment; null: no end.
CREATE VIEW named_blobs WITH (security_invoker = true) AS
    WITH kept AS NOT MATERIALIZED (
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULL::timestamptz AS until FROM workbooks w
        WHERE w.deleted_at IS NULL
        UNION ALL
        SELECT w.tenant_id, w.id, w.content_hash, w.file_size, NULLIF(e.until, 'infinity')
        FROM workbooks w JOIN tenants t ON t.id = w.tenant_id CROSS JOIN LATERAL (
            SELECT max(coalesce(p.effective_retention_until, t.evidence_until, 'infinity')) AS until
            FROM compliance_runs r
            LEFT JOIN stream_profiles p ON p.tenant_id = r.tenant_id AND p.stream_key = r.stream_key
            WHERE r.tenant_id = w.tenant_id AND r.workbook_id = w.id) e
        WHERE w.deleted_at IS NOT NULL AND e.until > now()
    )
    SELECT k.tenant_id, k.content_hash AS key, k.file_size AS size_bytes, k.until AS kept_until FROM kept k
    UNION ALL
    SELECT f.tenant_id, f.content_hash, f.file_size, k.until FROM workbook_files f
    JOIN kept k ON k.tenant_id = f.tenant_id AND k.id = f.workbook_id
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL, k.until FROM sheets s
    JOIN kept k ON k.tenant_id = s.tenant_id AND k.id = s.workbook_id
    WHERE s.blob_key IS NOT NULL
    UNION ALL
    SELECT s.tenant_id, s.blob_key, NULL, NULLIF(e.until, 'infinity')
    FROM evidence_sheets s CROSS JOIN LATERAL (
        SELECT k.until FROM evidence_kept k WHERE k.tenant_id = s.tenant_id AND k.book_key = s.book_key) e
    WHERE e.until > now()
    UNION ALL
    SELECT t.tenant_id, t.content_hash, t.file_size, NULL FROM tapes t
    UNION ALL
    SELECT t.tenant_id, t.loans_key, NULL, NULL FROM tapes t WHERE t.loans_key IS NOT NULL
    UNION ALL
    SELECT d.tenant_id, d.blob_key, d.size_bytes, NULL FROM documents d WHERE d.blob_key IS NOT NULL
    UNION ALL
    SELECT e.tenant_id, read.key, NULL, NULL FROM exports e, unnest(e.source_keys) AS read (key)
    WHERE e.source_keys IS NOT NULL;
GRANT SELECT ON named_blobs TO cushion_service;
GRANT SELECT ON named_blobs TO cushion_definer;

-- The bytes that the caller's tenant stores.
CREATE FUNCTION stored_bytes() RETURNS bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT coalesce(sum(size_bytes), 0)::bigint FROM blobs $$;

-- After a damage: no figure of the caller's tenant may come from these bytes. Workbooks and tapes fail; a document,
-- which can be created anew, expires. Return what was concerned.
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
        ), document AS (
            UPDATE documents d SET expires_at = now()
            WHERE d.blob_key = wanted AND d.expires_at > now()
            RETURNING d.id, d.name
        )
        SELECT 'workbook', book.id::text, book.name, book.error_message FROM book
        UNION ALL SELECT 'tape', tape.id, tape.file_name, tape.error_message FROM tape
        UNION ALL
        SELECT 'document', document.id::text, document.name, 'The stored bytes of the document are damaged.'
        FROM document
    $$;

REVOKE ALL ON FUNCTION stored_bytes(), give_up_blob(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stored_bytes(), give_up_blob(text) TO cushion_service;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

CREATE FUNCTION blob_is_used(wanted text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT EXISTS (SELECT FROM blobs b WHERE b.key = wanted) OR EXISTS (SELECT FROM named_blobs n WHERE n.key = wanted)
    $$;

-- Blobs that a record ceased to name long enough ago.
CREATE FUNCTION left_blobs(seconds integer, most integer) RETURNS TABLE (tenant_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT b.tenant_id, b.key FROM blobs b WHERE b.left_at < now() - make_interval(secs => seconds)
        ORDER BY b.left_at LIMIT most
    $$;

-- Of the store's keys, those that nobody uses. Unknown sizes are learned from the store.
CREATE FUNCTION unused_blobs(keys text[], sizes bigint[]) RETURNS SETOF text
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        UPDATE blobs b SET size_bytes = l.size FROM unnest(keys, sizes) AS l (key, size)
        WHERE b.key = l.key AND b.size_bytes IS NULL AND l.size IS NOT NULL;
        SELECT wanted FROM unnest(keys) AS wanted
        WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.key = wanted) AND NOT blob_is_used(wanted)
    $$;

-- Take the blob whose last check is the longest ago.
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

-- The tenants that have an undamaged blob of the key.
CREATE FUNCTION blob_holders(wanted text) RETURNS TABLE (tenant_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT b.tenant_id FROM blobs b WHERE b.key = wanted AND b.damaged_at IS NULL $$;

-- Bytes that are right again are right for all tenants that have them.
CREATE FUNCTION clear_blob_damage(wanted text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ UPDATE blobs SET damaged_at = NULL WHERE key = wanted AND damaged_at IS NOT NULL $$;

-- Leave the bytes of expired documents to be freed. Their records stay.
CREATE FUNCTION expire_documents(most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH due AS (
            SELECT d.tenant_id, d.id, d.blob_key FROM documents d WHERE d.blob_key IS NOT NULL AND d.expires_at <= now()
            ORDER BY d.expires_at LIMIT most FOR UPDATE SKIP LOCKED
        ), expired AS (
            UPDATE documents d SET blob_key = NULL FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
        ), held AS (  -- locked in the one order
            SELECT b.tenant_id, b.key FROM blobs b WHERE (b.tenant_id, b.key) IN (SELECT due.tenant_id, due.blob_key FROM due)
            ORDER BY b.tenant_id, b.key FOR UPDATE
        ), freed AS (
            UPDATE blobs b SET left_at = now() FROM held WHERE b.tenant_id = held.tenant_id AND b.key = held.key
        )
        SELECT count(*) FROM due
    $$;

REVOKE ALL ON FUNCTION blob_is_used(text), left_blobs(integer, integer), unused_blobs(text[], bigint[]),
    claim_blob_check(integer), blob_holders(text), clear_blob_damage(text), expire_documents(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION blob_is_used(text), left_blobs(integer, integer), unused_blobs(text[], bigint[]),
    claim_blob_check(integer), blob_holders(text), clear_blob_damage(text),
    expire_documents(integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
