-- Insights: which workbooks are analysed, what users were shown of them, and what they asked.

CREATE TABLE nominations (
    tenant_id    uuid NOT NULL,
    workbook_id  uuid NOT NULL,
    nominated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, workbook_id),
    FOREIGN KEY (tenant_id, workbook_id) REFERENCES workbooks (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE nominations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON nominations TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON nominations TO cushion_service;

CREATE TABLE insight_sessions (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    id                 text NOT NULL,
    user_id            uuid NOT NULL,  -- no foreign key: operators are users of another tenant
    stakeholder_type   text NOT NULL,
    regeneration_count integer NOT NULL DEFAULT 0 CHECK (regeneration_count BETWEEN 0 AND 3),
    subjects           json NOT NULL,
    warnings           json NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX insight_sessions_of_user ON insight_sessions (tenant_id, user_id, created_at DESC, id);
CREATE INDEX insight_sessions_age ON insight_sessions (created_at);
ALTER TABLE insight_sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON insight_sessions TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON insight_sessions TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON insight_sessions TO cushion_service;
GRANT SELECT, DELETE ON insight_sessions TO cushion_definer;

CREATE TABLE insights (
    tenant_id       uuid NOT NULL,
    id              text NOT NULL,
    session_id      text NOT NULL,
    number          integer NOT NULL,  -- place in the session
    workbook_ids    uuid[] NOT NULL,
    category        text NOT NULL,
    title           text NOT NULL,
    summary         text NOT NULL,
    confidence      float8 NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    priority        integer NOT NULL,
    methodology     text NOT NULL,
    supporting_data json NOT NULL,  -- json, not jsonb: returned as it was written
    answered_by     text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, session_id, number),
    FOREIGN KEY (tenant_id, session_id) REFERENCES insight_sessions (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE insights ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON insights TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON insights TO cushion_service;

-- Questions stay when their insight is replaced.
CREATE TABLE insight_questions (
    tenant_id  uuid NOT NULL REFERENCES tenants,
    id         uuid NOT NULL,
    user_id    uuid NOT NULL,
    insight_id text,
    question   text NOT NULL,
    answer     text NOT NULL,
    details    json NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX insight_questions_of_user ON insight_questions (tenant_id, user_id, asked_at DESC, id);
CREATE INDEX insight_questions_of_insight ON insight_questions (tenant_id, insight_id, asked_at DESC)
    WHERE insight_id IS NOT NULL;
CREATE INDEX insight_questions_age ON insight_questions (asked_at);
ALTER TABLE insight_questions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON insight_questions TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON insight_questions TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON insight_questions TO cushion_service;
GRANT SELECT, DELETE ON insight_questions TO cushion_definer;

-- The workbook that a nomination stands for: the nominated one, or the newest readable workbook of its deal that came
-- later and is no older. So a nomination follows a deal through its months and past deleted files, and uploads ignore
-- it.
CREATE VIEW nominated_workbooks WITH (security_invoker = true) AS
    SELECT n.tenant_id, n.workbook_id AS named_id, n.nominated_at, followed.id AS workbook_id
    FROM nominations n
    JOIN workbooks named ON named.tenant_id = n.tenant_id AND named.id = n.workbook_id
    LEFT JOIN deal_workbooks own ON own.tenant_id = n.tenant_id AND own.deal_id = named.deal_id AND own.id = named.id
    CROSS JOIN LATERAL (
        SELECT one.id FROM (
            SELECT named.id, own.day, named.created_at WHERE named.deleted_at IS NULL
            UNION ALL
            SELECT d.id, d.day, d.created_at
            FROM deal_workbooks d JOIN workbooks w ON w.tenant_id = d.tenant_id AND w.id = d.id
            WHERE d.tenant_id = n.tenant_id AND d.deal_id = named.deal_id AND d.created_at > n.nominated_at
              AND d.day >= coalesce(own.day, '-infinity') AND w.book_key IS NOT NULL
        ) one
        ORDER BY one.day DESC NULLS LAST, one.created_at DESC LIMIT 1) followed;
GRANT SELECT ON nominated_workbooks TO cushion_service;

-- These run as cushion_definer, which owns them.
GRANT CREATE ON SCHEMA public TO cushion_definer;
SET LOCAL ROLE cushion_definer;

CREATE FUNCTION forget_insight_sessions(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM insight_sessions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM insight_sessions WHERE created_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

CREATE FUNCTION forget_insight_questions(days integer, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        WITH gone AS (
            DELETE FROM insight_questions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM insight_questions WHERE asked_at < now() - make_interval(days => days) LIMIT most))
            RETURNING 1
        )
        SELECT count(*) FROM gone
    $$;

REVOKE ALL ON FUNCTION forget_insight_sessions(integer, integer),
    forget_insight_questions(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_insight_sessions(integer, integer),
    forget_insight_questions(integer, integer) TO cushion_service;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
