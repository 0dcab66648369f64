"""Admission: who calls, for whom, and whether they may.

By a user's token, an API key, the deployment's own key, or an operator's token.
"""

from __future__ import annotations

import hmac
from typing import Final
from uuid import UUID

import msgspec

from service.platform.access.caller_status import NO_METER, GateVerdict, KeyRecord, Meter, TenantRecord
from service.platform.access.gate import AttachedCommand
from service.platform.access.rights import Rights
from service.platform.access.switches import may_operate
from service.platform.base import problem as problems
from service.platform.base.caller import NOBODY, SCOPES, SYSTEM_EMAIL, Caller, Role
from service.platform.base.problem import Fault, Problem
from service.platform.base.secrets import BadToken, Claims, digest
from service.platform.http.idempotency import is_keyed
from service.platform.route.api import Route, parse_parameter
from service.platform.unit.context import Context

TENANT: Final = ("header", "x-tenant-id")
TENANT_HEADER: Final = b"x-tenant-id"
ANOTHERS: Final = "only who runs the deployment names another tenant than their own"


async def admit(ctx: Context, route: Route, attached: AttachedCommand | None = None) -> GateVerdict:
    """Admit the caller of a request into `ctx`; return the gate's verdict.

    `attached` is run where a user is admitted who is as they were expected.

    Raises:
        Problem: the deployment is under maintenance, the caller is nobody, has too many requests behind them or may not
            call this route, or its feature is switched off; with the gate's verdict, where it had one.
    """
    try:
        verdict = await _admit(ctx, route, attached)
    except Problem as refusal:
        _check_maintenance(
            ctx, route, refusal.verdict
        )  # all that is said then, else clients would give up their tokens
        raise
    try:
        _check_maintenance(ctx, route, verdict)  # which the gate may just have reported
        _check_flag(ctx, route)
    except Problem as refusal:
        raise _with(refusal, verdict) from None
    return verdict


def expected_caller(ctx: Context, route: Route) -> tuple[Caller, bytes] | None:
    """Return the caller whom `admit` lets in if nothing changed meanwhile.

    With their tenant's signed record; None where that is not to be said of them.
    """
    headers, resources = ctx.headers, ctx.resources
    if route.flag is not None or TENANT_HEADER in headers or is_keyed(ctx, route):
        return None
    if resources.breaker.away or resources.switches.maintenance is not None:
        return None
    try:
        claims = _claims(ctx, headers.get(b"authorization", b""))
    except Problem:
        return None
    expected = resources.gate.expected_tenant(claims.tenant_id, claims.sid)
    if expected is None or expected[1].status != "active" or not expected[1].admits(ctx.ip_address):
        return None
    caller = _user_of(claims, expected[1])
    return (caller, expected[0]) if caller.may(route.access) else None


async def _admit(ctx: Context, route: Route, attached: AttachedCommand | None) -> GateVerdict:
    if route.access == "public":
        return await _admit_anybody(ctx, route)
    authorization, key = ctx.headers.get(b"authorization"), ctx.headers.get(b"x-api-key")
    if authorization is not None:
        verdict, caller, rights = await _user(ctx, route, authorization, attached)
    elif key is not None and _is_system_key(ctx, key):
        return await _system(ctx, route)
    elif key is not None:
        _check_maintenance(ctx, route)
        verdict, caller, rights = await _key(ctx, route, key)
    else:
        raise problems.Unauthenticated
    try:
        ctx.admit(caller)
        ctx.admit(await _in_its_tenant(ctx, route, caller, _home(ctx, verdict)))
        _check_rights(ctx, route, verdict)
    except Problem as refusal:
        raise _with(refusal, verdict) from None
    ctx.let_in_by = rights
    if route.method != "GET" or route.event is not None:
        ctx.rights = rights
    return verdict


async def _admit_anybody(ctx: Context, route: Route) -> GateVerdict:
    """Let a request to a public route in, within the route's limits."""
    _check_maintenance(ctx, route)
    _check_flag(ctx, route)
    if not route.limited or route.windows is None:
        return GateVerdict("ok")
    return _check_verdict(await ctx.resources.gate.windows(route.windows(ctx.resources.settings, ctx.origin, "")))


async def _in_its_tenant(ctx: Context, route: Route, caller: Caller, home: TenantRecord) -> Caller:
    """Return the caller as of the tenant that the request is for."""
    named = _named_tenant(ctx)
    if route.access == "operator":
        return await _operator(ctx, caller, home, named)
    if named is not None and named != str(caller.tenant_id):
        return await _in_tenant(ctx, caller, home, named)
    if route.everywhere and _operates(ctx, caller, home):
        return msgspec.structs.replace(caller, runs_deployment=True)
    return caller


async def admit_again(ctx: Context, route: Route) -> None:
    """Look at the caller again after a wait for the body: rights may have ended.

    By the gate, as at the head, and by PostgreSQL, which remembers for longer what ended. Nothing is counted twice, and
    an access token that ran out by itself was good when the request began.

    Raises:
        Problem: the caller may no longer call this route.
    """
    rights = ctx.rights
    if rights is None:
        return
    gate, caller = ctx.resources.gate, ctx.caller
    if rights.key_id is not None:
        verdict = await gate.key(rights.key_hash, counted=False)
        record = _living_key(ctx, verdict)
        caller = msgspec.structs.replace(caller, role=record.role, scopes=frozenset(record.scopes))
    else:
        assert rights.session_id is not None
        verdict = await gate.user(rights.tenant_id, rights.user_id, rights.session_id, rights.generation, counted=False)
        if verdict.outcome == "revoked":
            raise problems.TokenRevoked
    try:
        _home(ctx, verdict)
        ctx.admit(caller)
        _check_rights(ctx, route, verdict)
        if not ctx.resources.database.is_away:  # else nothing has changed there
            await ctx.begin()
            await ctx.commit()  # which asks
        _check_maintenance(ctx, route, verdict)
        _check_flag(ctx, route)
    except Problem as refusal:
        raise _with(refusal, verdict) from None


def _home(ctx: Context, verdict: GateVerdict) -> TenantRecord:
    """Return the caller's own tenant.

    Raises:
        TenantSuspended, AddressNotAllowed: it is not active, or lets nobody in from there.
    """
    if verdict.tenant is None or verdict.tenant.status != "active":
        raise problems.TenantSuspended
    if not verdict.tenant.admits(ctx.ip_address):
        raise problems.AddressNotAllowed
    return verdict.tenant


def _check_rights(ctx: Context, route: Route, verdict: GateVerdict) -> None:
    """Check that the caller may call this route.

    Raises:
        PermissionDenied, EnrolmentRequired: they may not.
    """
    if not ctx.caller.may(route.access):
        raise problems.PermissionDenied.with_access(ctx.caller, route.access)
    if verdict.must_enroll and not route.enrolling:
        raise problems.EnrolmentRequired


def _check_maintenance(ctx: Context, route: Route, verdict: GateVerdict | None = None) -> None:
    """Check that the route answers now.

    Until it is known who calls, `verdict` is None, and nobody is an operator.

    Raises:
        UnderMaintenance: it does not, for this caller.
    """
    maintenance = ctx.resources.switches.maintenance
    if maintenance is None or route.in_maintenance:
        return
    caller = ctx.known_caller
    if caller is None or verdict is None or not (caller.system or _passes(ctx, caller, verdict)):
        raise maintenance.refusal(ctx.now())


def _check_flag(ctx: Context, route: Route) -> None:
    if route.flag is not None:
        ctx.resources.switches.check(route.flag, ctx.tenant_id)


def _passes(ctx: Context, caller: Caller, verdict: GateVerdict) -> bool:
    """Return whether the caller works on during maintenance."""
    home = verdict.tenant
    return home is not None and caller.kind in ("user", "operator") and _is_operators(ctx, caller.role, home)


def shows_system_key(ctx: Context) -> bool:
    """Return whether a request has the deployment's own key, on any route."""
    key = ctx.headers.get(b"x-api-key")
    return key is not None and _is_system_key(ctx, key)


def _is_system_key(ctx: Context, key: bytes) -> bool:
    known = ctx.settings.system_api_key
    return known is not None and hmac.compare_digest(digest(known), digest(key.decode("latin-1")))


async def _system(ctx: Context, route: Route) -> GateVerdict:
    """Admit the deployment's own key, which administers the tenant that it names."""
    windows = route.windows(ctx.settings, ctx.origin, SYSTEM_EMAIL) if route.windows else ()
    verdict = _check_verdict(await ctx.resources.gate.system(windows, counted=route.limited))
    try:
        caller = Caller(
            kind="system",
            tenant_id=NOBODY,
            user_id=NOBODY,
            role="owner",
            scopes=SCOPES["owner"],
            tier="enterprise",
            email=SYSTEM_EMAIL,
        )
        ctx.admit(caller)
        if not caller.may(route.access):
            raise problems.PermissionDenied.with_access(caller, route.access)
        named = _named_tenant(ctx)
        if named is None and route.everywhere:
            ctx.admit(msgspec.structs.replace(caller, runs_deployment=True))
            return verdict
        if named is None:
            raise problems.ValidationFailed.at(TENANT, "the system key names the tenant")
        tenant = await _tenant_named(ctx, named)
        ctx.admit(msgspec.structs.replace(caller, tenant_id=tenant.id, tier=tenant.tier, timezone=tenant.timezone))
    except Problem as refusal:
        raise _with(refusal, verdict) from None
    return verdict


async def _in_tenant(ctx: Context, caller: Caller, home: TenantRecord, named: str) -> Caller:
    """Return an operator's admin as an admin of the tenant that they named."""
    if not _operates(ctx, caller, home):
        raise problems.PermissionDenied.at(TENANT, ANOTHERS)
    tenant = await _tenant_named(ctx, named)
    email = await ctx.email()
    await ctx.commit()
    return msgspec.structs.replace(
        caller,
        kind="operator",
        tenant_id=tenant.id,
        role="admin",
        scopes=SCOPES["admin"],
        tier=tenant.tier,
        timezone=tenant.timezone,
        email=email,
    )


async def _operator(ctx: Context, caller: Caller, home: TenantRecord, named: str | None) -> Caller:
    """Return the caller of what concerns the whole deployment.

    It is done as an act of their own tenant, whichever they name: another one's log is no place for it.
    """
    runs_deployment = _operates(ctx, caller, home)
    if named is not None and named != str(caller.tenant_id):
        if not runs_deployment:
            raise problems.PermissionDenied.at(TENANT, ANOTHERS)
        await _tenant_named(ctx, named)
    operates = runs_deployment or (caller.kind == "user" and may_operate(ctx.settings, caller.role, home.slug))
    return msgspec.structs.replace(caller, operates=operates, runs_deployment=runs_deployment)


def _operates(ctx: Context, caller: Caller, home: TenantRecord) -> bool:
    return caller.kind == "user" and _is_operators(ctx, caller.role, home)


def _is_operators(ctx: Context, role: Role, home: TenantRecord) -> bool:
    return role in ("owner", "admin") and home.slug in ctx.settings.operator_tenants


def _claims(ctx: Context, authorization: bytes) -> Claims:
    """Return the claims of a user's token.

    Raises:
        InvalidToken: it cannot be believed.
    """
    scheme, _, token = authorization.partition(b" ")
    if scheme.lower() != b"bearer":
        raise problems.InvalidToken.at(["header", "authorization"], "expected Bearer and an access token")
    try:
        claims = ctx.resources.tokens.read(token.decode("latin-1").strip(), expected="access")
    except BadToken:
        raise problems.InvalidToken from None
    if claims.role is None:
        raise problems.InvalidToken
    return claims


def _user_of(claims: Claims, tenant: TenantRecord | None) -> Caller:
    assert claims.role is not None
    return Caller(
        kind="user",
        tenant_id=claims.tenant_id,
        user_id=claims.sub,
        role=claims.role,
        scopes=SCOPES[claims.role],
        tier=tenant.tier if tenant else "",
        timezone=tenant.timezone if tenant else "UTC",
        session_id=claims.sid,
        generation=claims.gen,
    )


async def _user(
    ctx: Context, route: Route, authorization: bytes, attached: AttachedCommand | None
) -> tuple[GateVerdict, Caller, Rights]:
    claims = _claims(ctx, authorization)
    assert claims.role is not None
    if claims.role not in ("owner", "admin"):
        _check_maintenance(ctx, route)
    windows = route.windows(ctx.settings, ctx.origin, str(claims.sub)) if route.windows else ()
    meter = _meter(ctx, route) if route.access in SCOPES[claims.role] else NO_METER
    verdict = await ctx.resources.gate.user(
        claims.tenant_id,
        claims.sub,
        claims.sid,
        claims.gen,
        windows,
        meter,
        counted=route.limited,
        attached=attached,
    )
    if verdict.outcome == "revoked":
        raise problems.TokenRevoked
    caller = _user_of(claims, verdict.tenant)
    ctx.admit(caller)
    _pass_metered(ctx, route, verdict)
    rights = Rights(
        tenant_id=claims.tenant_id,
        user_id=claims.sub,
        session_id=claims.sid,
        generation=claims.gen,
        access=route.access,
    )
    return verdict, caller, rights


async def _key(ctx: Context, route: Route, key: bytes) -> tuple[GateVerdict, Caller, Rights]:
    windows = route.windows(ctx.settings, ctx.origin, "") if route.windows else ()
    key_hash = digest(key.decode("latin-1"))
    verdict = await ctx.resources.gate.key(key_hash, windows, _meter(ctx, route))
    record = _living_key(ctx, verdict)
    _pass_metered(ctx, route, verdict)
    caller = Caller(
        kind="key",
        tenant_id=record.tenant_id,
        user_id=record.user_id,
        role=record.role,
        scopes=frozenset(record.scopes),
        tier=verdict.tier,
        timezone=verdict.timezone,
        api_key_id=record.id,
        email=record.email,
    )
    rights = Rights(
        tenant_id=record.tenant_id,
        user_id=record.user_id,
        key_id=record.id,
        key_hash=key_hash,
        access=route.access,
    )
    return verdict, caller, rights


def _living_key(ctx: Context, verdict: GateVerdict) -> KeyRecord:
    """Return the key of a verdict.

    Raises:
        InvalidKey: there is none, or it has ended.
    """
    record = verdict.key
    if record is None or not record.lives_at(ctx.now().timestamp()):
        raise problems.InvalidKey
    return record


def _meter(ctx: Context, route: Route) -> Meter:
    """Return what the call uses of the month, where that does not depend on its body.

    Nothing yet where it may be a repetition, which uses nothing.
    """
    if route.metered is None or is_keyed(ctx, route):
        return NO_METER
    return route.metered[0](ctx.settings)._replace(scope=route.access)


def _pass_metered(ctx: Context, route: Route, verdict: GateVerdict) -> None:
    if verdict.outcome == "used_up":
        assert route.metered is not None
        seconds = ctx.resources.gate.seconds_left_of_month()
        fault = Fault([], route.metered[0](ctx.settings).words(verdict.tier))
        raise _with(route.metered[1](fault, retry_after_seconds=seconds), verdict)
    _check_verdict(verdict)


def _named_tenant(ctx: Context) -> str | None:
    """Return the tenant of X-Tenant-ID."""
    named = ctx.headers.get(TENANT_HEADER)
    return None if named is None else named.decode("latin-1").strip().lower()


async def _tenant_named(ctx: Context, named: str) -> TenantRecord:
    try:
        tenant = await ctx.resources.gate.tenant(parse_parameter(named, UUID))
    except ValueError:
        tenant = None
    if tenant is None:
        raise problems.TenantNotFound
    return tenant


def _check_verdict(verdict: GateVerdict) -> GateVerdict:
    if verdict.outcome == "limited":
        raise _with(problems.RateLimited.with_limit(verdict.passed, verdict.retry_after_seconds), verdict)
    return verdict


def _with(refusal: Problem, verdict: GateVerdict) -> Problem:
    refusal.verdict = verdict  # the answer carries the limits even when it refuses
    return refusal
