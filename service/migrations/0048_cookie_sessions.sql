-- Sessions of browsers, whose refresh token is a cookie. Tabs refresh at the same moment, so the token before the present
-- one is answered once more for some seconds: by the same token, which its identifier and times give again.

ALTER TABLE sessions
    ADD COLUMN cookie       boolean NOT NULL DEFAULT false,  -- the refresh token is a cookie, and never in a body
    ADD COLUMN previous_jti uuid,                            -- the refresh token that refresh_jti replaced
    ADD COLUMN rotated_at   timestamptz;                     -- when it did: the moment that the present one says
