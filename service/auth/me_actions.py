"""The caller's account and rights, and what a stranger may register."""

from __future__ import annotations

from service.auth import store
from service.auth.schema import AuthOptions, Me
from service.auth.tenant_schema import TenantView
from service.platform.base.caller import KEY_SCOPES
from service.platform.unit.context import Context, Resources, Unit
from service.platform.unit.query_cache import QueryCache
from service.platform.unit.records import narrow


async def me(ctx: Context) -> Me:
    """Return the caller with their scopes, and what everybody of the tenant works by."""
    row = await store.me(ctx)
    scopes = [scope for scope in KEY_SCOPES if ctx.caller.may(scope)]
    tenant = narrow(TenantView, row.settings, name=row.tenant_name, tier=row.subscription_tier)
    return narrow(Me, row, scopes=scopes, tenant=tenant)


async def options(ctx: Context) -> AuthOptions:
    """Return whether a stranger may register."""
    if not ctx.flag("registration"):
        return AuthOptions(registration_open=False)
    if ctx.settings.open_registration:
        return AuthOptions(registration_open=True)
    return AuthOptions(registration_open=await ctx.resources.once(QueryCache).of("lacks_tenants", _lacks_tenants))


async def _lacks_tenants(resources: Resources) -> bool:
    unit = Unit(resources, None, request_id="")
    try:
        lacks = await store.lacks_tenants(unit, alone=False)
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise
    return lacks
