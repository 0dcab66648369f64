"""What identity lends its neighbours.

Owners of e-mails, the end of a user's tokens, tenants' beginnings and labels.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from uuid import UUID

from service.auth.schema import SLUG_CHARACTERS
from service.auth.store import create_tenant, find_account, revoke_tokens, tenant_settings
from service.platform.unit.context import Context, Unit

__all__ = ["create_tenant", "create_tenant_with_slug", "find_account", "labels_of", "revoke_tokens"]


async def labels_of(unit: Unit) -> dict[str, str]:
    """Return the tenant's labels of agencies and trustees."""
    return (await tenant_settings(unit)).labels


async def create_tenant_with_slug(ctx: Context, tenant_id: UUID, name: str, tier: str) -> None:
    """Create a tenant under a slug of its name, lengthened where taken."""
    slug = slug_of(name)
    while slug in ctx.settings.operator_tenants or not await create_tenant(ctx, tenant_id, name, slug, tier):
        slug = f"{slug_of(name)}-{secrets.token_hex(3)}"  # nobody names themselves an operator


def slug_of(name: str) -> str:
    """Return a name as a piece of a URL."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG_CHARACTERS].strip("-") or "tenant"
