"""The caller's account and rights, and what a stranger may register."""

from __future__ import annotations

from service.auth import store
from service.auth.schema import AuthOptions, Me
from service.auth.tenant_schema import TenantView
from service.platform.base.caller import KEY_SCOPES
from service.platform.resilience.looks import QueryCache
from service.platform.unit.context import Context, Resources, Unit


async def me(ctx: Context) -> Me:
    """Return the caller with their scopes, and what everybody of the tenant works by."""
    row = await store.me(ctx)
    settings = row.settings
    return Me(
        id=row.id,
        email=row.email,
        full_name=row.full_name,
        tenant_id=row.tenant_id,
        role=row.role,
        two_factor_enabled=row.two_factor_enabled,
        scopes=[scope for scope in KEY_SCOPES if ctx.caller.may(scope)],
        tenant=TenantView(
            name=row.tenant_name,
            tier=row.subscription_tier,
            date_format=settings.date_format,
            number_format=settings.number_format,
            timezone=settings.timezone,
            two_factor_required=settings.two_factor_required,
            session_timeout_minutes=settings.session_timeout_minutes,
            labels=settings.labels,
        ),
    )


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
