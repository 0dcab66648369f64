-- Answers to requests that carried an Idempotency-Key, to be given again.

CREATE TABLE idempotency_keys (
    tenant_id     uuid NOT NULL,   -- all zeros where nobody is known to call: a registration, a login
    caller        text NOT NULL,   -- whose key it is: a user, an API key, an address where nobody is known
    key_hash      bytea NOT NULL,
    request_hash  bytea NOT NULL,  -- keyed with the deployment's secret; of the path, the query and the body: another one may not use the key
    claim         uuid NOT NULL,   -- of the request that works, or worked, on it
    claimed_until timestamptz NOT NULL,  -- silence until here means that its process died
    status        smallint,        -- of the answer; null while there is none
    media_type    text,
    headers       json,
    content       bytea,           -- null where the answer is not kept: it holds a secret, or is too large
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, caller, key_hash)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_keys TO cushion_service
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO cushion_service;
