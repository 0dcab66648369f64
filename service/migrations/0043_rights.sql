-- The rights of a caller, looked at once more where a request commits, and whether a deployment has a tenant yet.
--
-- Whoever ends rights locks what they belong to (a tenant, a user, a session, a key) alone; a request that changes
-- something shares the locks of its own caller. Both do so right before their COMMIT, in one order, so they wait for
-- nothing but each other's COMMIT. What is read after a lock is what the last holder left: a request commits either
-- before its caller's rights end, or not at all.

GRANT CREATE ON SCHEMA public TO cushion_definer;  -- to take over the functions below; revoked at the end

-- locks: advisory locks in everybody's order; alone: whether each is taken alone, or shared.
-- of_tenant: where the caller is at home, null: nobody's rights are asked for.
-- of_user, of_session, of_key: null where this very transaction ends them, or the caller has none.
-- of_roles: those whose users may do what the key does.
CREATE FUNCTION confirm_caller(locks bigint[], alone boolean[], of_tenant uuid, of_user uuid, of_session uuid,
                               of_generation integer, of_key uuid, of_roles text[], tenant_stays boolean)
    RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    DECLARE
        held record;
    BEGIN
        FOR place IN 1 .. cardinality(locks) LOOP
            IF alone[place] THEN
                PERFORM pg_advisory_xact_lock(locks[place]);
            ELSE
                PERFORM pg_advisory_xact_lock_shared(locks[place]);
            END IF;
        END LOOP;
        IF of_tenant IS NULL THEN
            RETURN;
        END IF;
        -- A statement of its own, which sees what was committed before the locks came.
        SELECT t.status AS tenant_status, u.status AS user_status, u.role, u.token_generation,
               s.id IS NOT NULL AND s.revoked_at IS NULL AS session_lives,
               k.status IN ('active', 'deprecated')
                   AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AS key_lives
        INTO held
        FROM tenants t
        LEFT JOIN users u ON u.tenant_id = t.id AND u.id = of_user
        LEFT JOIN sessions s ON s.tenant_id = t.id AND s.id = of_session
        LEFT JOIN api_keys k ON k.tenant_id = t.id AND k.id = of_key
        WHERE t.id = of_tenant;
        IF of_roles IS NULL THEN
            IF (of_session IS NOT NULL AND held.session_lives IS NOT TRUE)
               OR (of_user IS NOT NULL AND (held.user_status IS DISTINCT FROM 'active'
                                            OR held.token_generation > of_generation)) THEN
                RAISE EXCEPTION 'the session has ended' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_session';
            END IF;
        ELSIF (of_key IS NOT NULL AND held.key_lives IS NOT TRUE)
              OR (of_user IS NOT NULL AND held.user_status IS DISTINCT FROM 'active') THEN
            RAISE EXCEPTION 'the key has ended' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_key';
        END IF;
        IF tenant_stays AND held.tenant_status IS DISTINCT FROM 'active' THEN
            RAISE EXCEPTION 'the tenant is not active' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_tenant';
        END IF;
        IF of_roles IS NOT NULL AND of_user IS NOT NULL AND held.role <> ALL (of_roles) THEN
            RAISE EXCEPTION 'the right was lost' USING ERRCODE = 'check_violation', CONSTRAINT = 'caller_right';
        END IF;
    END
    $$;

-- Whether there is no tenant yet. Who asks alone keeps others from asking so until their transaction ends: of two first
-- registrations, one comes after the other's tenant is there.
CREATE FUNCTION lacks_tenants(alone boolean) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
    BEGIN
        IF alone THEN
            PERFORM pg_advisory_xact_lock(hashtextextended('first tenant', 0));
        END IF;
        RETURN NOT EXISTS (SELECT FROM tenants);
    END
    $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['confirm_caller(bigint[], boolean[], uuid, uuid, uuid, integer, uuid, text[], boolean)',
                                'lacks_tenants(boolean)']
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cushion_service', name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO cushion_definer', name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cushion_definer;
