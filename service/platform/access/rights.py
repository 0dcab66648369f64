"""A request's rights, looked at once more where its transaction commits.

The gate decides at the head of a request. Until its body is there, and its work done, a session, a key, a role or a
tenant may end. So each transaction of a request that changes something asks again right before its COMMIT, under locks
that whoever ends rights takes alone (`confirm_caller`). It leaves with the COMMIT and costs no round trip.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal
from uuid import UUID

from msgspec import Struct

from service.platform.base.caller import ROLES, SCOPES

Part = Literal["tenant", "user", "session", "key"]
"""What can end."""

CONFIRM: Final = """
SELECT confirm_caller(%(locks)s::bigint[], %(alone)s::boolean[], %(tenant)s::uuid, %(user)s::uuid, %(session)s::uuid,
                      %(generation)s::integer, %(key)s::uuid, %(roles)s::text[], %(tenant_stays)s)
"""


class Rights(Struct, frozen=True, kw_only=True):
    """What a caller was let in by."""

    tenant_id: UUID
    """Where the caller is at home, whichever tenant the work is for."""
    user_id: UUID
    """Of a key: its creator."""
    session_id: UUID | None = None
    generation: int = 0
    key_id: UUID | None = None
    key_hash: bytes = b""
    access: str
    """What the route asks of its caller."""

    def is_own(self, part: Part, id_: UUID) -> bool:
        """Return whether this is what the caller was let in by."""
        return id_ == {
            "tenant": self.tenant_id,
            "user": self.user_id,
            "session": self.session_id,
            "key": self.key_id,
        }.get(part)

    @property
    def _roles(self) -> list[str] | None:
        """Return the roles of a key that have the route's scope."""
        if self.key_id is None:
            return None
        return [role for role in ROLES if self.access == "any" or self.access in SCOPES[role]]


def question(
    rights: Rights | None, ending: Collection[UUID], ended: Collection[Part], *, locked: bool
) -> dict[str, Any]:
    """Return the parameters of CONFIRM.

    Args:
        rights: the caller's; None where nobody's are asked for.
        ending: the tenants, users and keys whose rights this transaction ends.
        ended: those parts of the caller's own rights that the request itself ended.
        locked: whether the locks are taken, too: right before the COMMIT alone.
    """
    locks: Mapping[int, bool] = {}
    if locked:
        own = [] if rights is None else [rights.tenant_id, rights.user_id, rights.key_id]
        locks = {**{_lock(id_): False for id_ in own if id_ is not None}, **{_lock(id_): True for id_ in ending}}
    ordered = sorted(locks)
    # As PostgreSQL writes arrays: a list takes psycopg several times as long.
    alone = ",".join("t" if locks[lock] else "f" for lock in ordered)
    row: dict[str, Any] = {"locks": f"{{{','.join(map(str, ordered))}}}", "alone": f"{{{alone}}}"}
    if rights is None:
        none = dict.fromkeys(("tenant", "user", "session", "key", "roles"))
        return {**row, **none, "generation": 0, "tenant_stays": False}
    return {
        **row,
        "tenant": rights.tenant_id,
        "user": None if "user" in ended else rights.user_id,
        "session": None if "session" in ended else rights.session_id,
        "generation": rights.generation,
        "key": None if "key" in ended else rights.key_id,
        "roles": rights._roles,
        "tenant_stays": "tenant" not in ended,
    }


def _lock(id_: UUID) -> int:
    """Return the advisory lock of a record: the last, random half of its identifier."""
    return int.from_bytes(id_.bytes[8:], signed=True)
