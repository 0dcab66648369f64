"""What notifications lend.

Telling users of the tenant something, in the transaction that it comes of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from service.notifications import store
from service.notifications.schema import Priority
from service.platform.unit.context import Unit

TITLE_CHARACTERS: Final = 200
MESSAGE_CHARACTERS: Final = 16_000
"""Of a text; one on an alert names every doubtful test with the reason."""


async def notify(
    unit: Unit,
    users: Sequence[UUID] | None,
    *,
    type_: str,
    title: str,
    message: str,
    priority: Priority = "normal",
    resource: tuple[str, str] | None = None,
) -> int:
    """Notify active users of the tenant; return their number.

    Args:
        users: whom; None for the owners and admins. Who is none of the tenant's active users is passed over.
        type_: entity.verb
        resource: the type and the identifier of the record that it is about.
    """
    row = {
        "type": type_,
        "priority": priority,
        "title": title[:TITLE_CHARACTERS],
        "message": message[:MESSAGE_CHARACTERS],
        "resource_type": resource[0] if resource else None,
        "resource_id": resource[1] if resource else None,
    }
    return await store.add(unit, store.TO_ADMINS if users is None else store.TO_USERS, users or (), row)
