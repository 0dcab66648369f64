"""Identity: registration, login, tokens, second factors, passwords.

Tokens are HS256. `sid` names the session (the family of refresh tokens of one login), `gen` the generation of the
user's tokens. Logout and the re-use of a refresh token revoke a `sid`. A new role or status, and revoke-all, raise
the generation. A generation and not a time, so a login in the same second as a revocation is not caught by it.

Whether a user must enrol in two-factor login is a question to Redis and not part of the token, so a change counts at
once. A browser's session has its refresh token in a cookie, read only beside `X-Session: cookie`. CORS gives that
header to no other origin, so the cookie needs no token against forgery. The token that was just replaced is answered
once more for ten seconds, because tabs refresh at the same time.
"""
