-- Scenarios: trades that are tried on a workbook's portfolio.

CREATE TABLE scenarios (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               uuid NOT NULL,
    name             text NOT NULL,
    description      text,
    base_workbook_id uuid,
    simulation       json,  -- the result; null in a draft. json, not jsonb: returned as it was written
    held_workbook_id uuid GENERATED ALWAYS AS (CASE WHEN simulation IS NULL THEN base_workbook_id END) STORED,
    created_by       text NOT NULL,
    version          integer NOT NULL DEFAULT 1,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT scenarios_workbook FOREIGN KEY (tenant_id, held_workbook_id) REFERENCES workbooks (tenant_id, live_id)
);
CREATE INDEX scenarios_created ON scenarios (tenant_id, created_at DESC);
CREATE INDEX scenarios_held_workbook ON scenarios (tenant_id, held_workbook_id) WHERE held_workbook_id IS NOT NULL;
ALTER TABLE scenarios ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON scenarios TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON scenarios TO cushion_service;
CREATE TRIGGER scenarios_state AFTER UPDATE OF simulation ON scenarios FOR EACH ROW EXECUTE FUNCTION announce_state();

CREATE TABLE scenario_trades (
    tenant_id   uuid NOT NULL,
    scenario_id uuid NOT NULL,
    id          uuid NOT NULL,
    number      integer NOT NULL,  -- trades apply in this order
    trade       json NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, scenario_id, id),
    FOREIGN KEY (tenant_id, scenario_id) REFERENCES scenarios (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE scenario_trades ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON scenario_trades TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON scenario_trades TO cushion_service;

-- The advisory lock of a scenario: exclusive for a simulation, shared for edits.
CREATE FUNCTION scenario_lock(tenant_id uuid, id uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    RETURN hashtextextended('scenario ' || tenant_id::text || id::text, 0);

-- A scenario is calculating while its exclusive lock is taken, so a crash cannot leave it in that state.
CREATE VIEW scenario_states WITH (security_invoker = true) AS
    SELECT s.*,
           CASE WHEN scenario_lock(s.tenant_id, s.id) = ANY (ARRAY(
                    SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l
                    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.mode = 'ExclusiveLock' AND l.granted
                      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
                THEN 'calculating'
                WHEN s.simulation IS NULL THEN 'draft'
                ELSE 'completed' END AS status,
           (SELECT count(*) FROM scenario_trades t WHERE t.tenant_id = s.tenant_id AND t.scenario_id = s.id)
               AS trade_count
    FROM scenarios s;
GRANT SELECT ON scenario_states TO cushion_service;
