"""Roles, scopes, and who a caller is."""

from __future__ import annotations

from typing import Literal, get_args
from uuid import UUID

from msgspec import Struct

Role = Literal["owner", "admin", "analyst", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

KEY_SCOPES = (
    "workbooks:read",
    "workbooks:write",
    "calculations:execute",
    "compliance:read",
    "compliance:write",
    "scenarios:read",
    "scenarios:write",
    "reports:read",
    "reports:generate",
    "alerts:read",
    "alerts:write",
    "mappings:read",
    "mappings:write",
    "admin:users",
    "admin:api-keys",
)
"""Every scope that exists; a key may carry any of them that its creator's role has."""

_READING = frozenset({"workbooks:read", "compliance:read", "scenarios:read", "reports:read"})
_ADMINISTRATION = frozenset({"admin:users", "admin:api-keys"})

SCOPES: dict[Role, frozenset[str]] = {
    "owner": frozenset(KEY_SCOPES),
    "admin": frozenset(KEY_SCOPES),
    "analyst": frozenset(KEY_SCOPES) - _ADMINISTRATION,
    "viewer": _READING,
}

Access = Literal["public", "any", "user", "role:admin", "role:owner"] | str
"""What a route asks of its caller: nothing, any credential, a user's token, a role, or a scope by its name."""


class Caller(Struct, frozen=True, kw_only=True):
    """Who makes a request."""

    tenant_id: UUID
    user_id: UUID
    """For an API key: its creator."""
    role: Role
    scopes: frozenset[str]
    tier: str
    session_id: UUID | None = None
    generation: int = 0
    api_key_id: UUID | None = None
    email: str | None = None
    """Known for keys; for a user's token `Context.email` looks it up."""

    def may(self, access: Access) -> bool:
        """Whether this caller may call a route that asks `access`."""
        match access:
            case "public" | "any":
                return True
            case "user":
                return self.api_key_id is None
            case "role:admin":
                return self.api_key_id is None and self.role in ("owner", "admin")
            case "role:owner":
                return self.api_key_id is None and self.role == "owner"
            case scope:
                return scope in self.scopes
