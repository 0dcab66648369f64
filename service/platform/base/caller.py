"""Roles, scopes, and who a caller is."""

from __future__ import annotations

from collections.abc import Iterable
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

Access = Literal["public", "any", "user", "role:admin", "role:owner", "operator"] | str
"""What a route asks of its caller: nothing, any credential, a user's token, a role, that they run the deployment, or a
scope by its name."""


NOBODY = UUID(int=0)
"""The user of a call that no user makes."""
SYSTEM_EMAIL = "system"
"""How records name the deployment's own key."""

Kind = Literal["user", "key", "system", "operator"]
"""A user's token; an API key; the deployment's own key; an admin of an operator tenant who acts in another tenant."""

_ADMINISTRATIVE = frozenset({"role:admin", "operator", *_ADMINISTRATION})


class Caller(Struct, frozen=True, kw_only=True):
    """Who makes a request."""

    kind: Kind
    tenant_id: UUID
    """Whom the work is for; of the system key and an operator the tenant that they named."""
    user_id: UUID
    """For an API key: its creator. For an operator: a user of another tenant. For the system key: NOBODY."""
    role: Role
    scopes: frozenset[str]
    tier: str
    timezone: str = "UTC"
    """The tenant's."""
    session_id: UUID | None = None
    generation: int = 0
    api_key_id: UUID | None = None
    email: str | None = None
    """Known for keys; for a user's token `Context.email` looks it up."""
    runs_deployment: bool = False
    """Whether the caller is the system key, or an admin of an operator tenant, and named no other tenant: what concerns
    the whole deployment is theirs."""
    operates: bool = False
    """Whether the caller may switch what concerns the whole deployment: who runs it, and on a machine's own every owner
    and admin."""

    @property
    def system(self) -> bool:
        """Whether this is the deployment's own key."""
        return self.kind == "system"

    @property
    def member(self) -> bool:
        """Whether the caller, or the key's creator, is a user of the work's tenant."""
        return self.kind in ("user", "key")

    def may_grant(self, scopes: Iterable[str]) -> bool:
        """Return whether the caller may give these scopes: nobody gives what they lack."""
        return self.scopes.issuperset(scopes)

    def may_make(self, role: Role) -> bool:
        """Return whether the caller may give somebody this role, and so its scopes.

        An owner is made by an owner in person; a lost key would else cost the tenant.
        """
        return (role != "owner" or self.owns) and self.may_grant(SCOPES[role])

    @property
    def owns(self) -> bool:
        """Whether the caller has an owner's rights over owners: a key has not."""
        return self.role == "owner" and self.kind != "key"

    def may(self, access: Access) -> bool:
        """Return whether this caller may call a route that asks `access`."""
        if self.system:  # it administers, and sees nobody's data
            return access in _ADMINISTRATIVE
        match access:
            case "public":
                return True
            case "any":
                return self.member
            case "user":
                return self.kind == "user"
            case "role:admin":
                return self.kind != "key" and self.role in ("owner", "admin")
            case "role:owner":
                return self.kind == "user" and self.role == "owner"
            case "operator":
                return self.operates
            case scope:
                return scope in self.scopes

    def lacks(self, access: Access) -> str:
        """Say what this caller would need for a route that asks `access`."""
        if self.system:
            return "the deployment's own key administers tenants and does nothing else"
        if self.kind == "key" and access in ("user", "role:admin", "role:owner", "operator"):
            return "a user's token is needed; this is an API key"
        match access:
            case "any" | "user":
                return "a user of the tenant is needed"
            case "role:admin" | "role:owner":
                needed = "owner" if access == "role:owner" else "owner or admin"
                return f"the role {needed} is needed; yours is {self.role}"
            case "operator":
                return "this is for who runs the deployment: an owner or admin of an operator tenant, or the system key"
            case scope if self.kind == "key":
                return f"the scope {scope} is needed; the key has {', '.join(sorted(self.scopes)) or 'none'}"
            case scope:
                having = ", ".join(role for role in ROLES if scope in SCOPES[role])
                return f"the scope {scope} is needed, which your role, {self.role}, lacks; {having} have it"
