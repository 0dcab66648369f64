-- Deals: their mappings, definitions, and how long the evidence of their runs is kept.

CREATE TABLE mappings (
    tenant_id        uuid NOT NULL REFERENCES tenants,
    id               text NOT NULL,
    name             text NOT NULL,
    description      text,
    source_type      text NOT NULL CHECK (source_type IN ('clo_holdings', 'servicer_snapshot', 'custom')),
    profile_id       text,
    mappings         json NOT NULL,  -- json, not jsonb: earlier source columns are preferred
    transforms       json NOT NULL,
    validation_rules json NOT NULL,
    field_count      integer NOT NULL,  -- including the profile's
    created_by       text NOT NULL,
    version          integer NOT NULL DEFAULT 1,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT mappings_name_key UNIQUE (tenant_id, name)
);
CREATE INDEX mappings_created ON mappings (tenant_id, created_at DESC);
ALTER TABLE mappings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mappings TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON mappings TO cushion_service;

-- What ties the files, the rules and the months of one contract together.
CREATE TABLE deals (
    tenant_id          uuid NOT NULL REFERENCES tenants,
    id                 uuid NOT NULL,
    name               text NOT NULL,
    stream_key         text,
    currency           text NOT NULL,
    home_countries     text[] NOT NULL,
    closing_date       date,
    reinvestment_end   date,
    stated_maturity    date,
    next_payment_date  date,
    mapping_id         text,
    own_mapping_id     text GENERATED ALWAYS AS (
        CASE WHEN mapping_id NOT LIKE 'standard\_%' THEN mapping_id END
    ) STORED,
    definition_version integer NOT NULL DEFAULT 0,  -- 0: none yet
    created_by         text NOT NULL,
    version            integer NOT NULL DEFAULT 1,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT deals_stream_key UNIQUE (tenant_id, stream_key),
    CONSTRAINT deals_mapping FOREIGN KEY (tenant_id, own_mapping_id) REFERENCES mappings (tenant_id, id)
);
CREATE INDEX deals_created ON deals (tenant_id, created_at DESC);
CREATE INDEX deals_own_mapping ON deals (tenant_id, own_mapping_id) WHERE own_mapping_id IS NOT NULL;
ALTER TABLE deals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deals TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON deals TO cushion_service;

CREATE TABLE deal_definitions (
    tenant_id    uuid NOT NULL,
    deal_id      uuid NOT NULL,
    version      integer NOT NULL,
    definition   json NOT NULL,  -- json, not jsonb: returned as it was written
    change_notes text,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, deal_id, version),
    FOREIGN KEY (tenant_id, deal_id) REFERENCES deals (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE deal_definitions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deal_definitions TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON deal_definitions TO cushion_service;

-- How long the evidence of a deal's runs is kept, and with it the bytes of deleted workbooks.
CREATE TABLE stream_profiles (
    tenant_id                 uuid NOT NULL REFERENCES tenants,
    id                        uuid NOT NULL,
    stream_key                text NOT NULL,
    deal_name                 text,
    jurisdiction              text,
    retention_mode            text NOT NULL CHECK (retention_mode IN ('fixed_years', 'life_of_securitisation')),
    retention_years           integer,
    maturity_date             date,
    retention_until           timestamptz,
    retention_floor_years     integer,  -- the jurisdiction's, when the profile was written
    profile_metadata          json NOT NULL,  -- json, not jsonb: returned as it was written
    effective_retention_until timestamptz,    -- null: no end
    created_by                text NOT NULL,
    created_at                timestamptz NOT NULL,
    updated_at                timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT stream_profiles_key UNIQUE (tenant_id, stream_key)
);
CREATE INDEX stream_profiles_created ON stream_profiles (tenant_id, created_at DESC);
ALTER TABLE stream_profiles ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON stream_profiles TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY definer ON stream_profiles TO cushion_definer USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON stream_profiles TO cushion_service;
GRANT DELETE, SELECT (tenant_id, stream_key, effective_retention_until) ON stream_profiles TO cushion_definer;
