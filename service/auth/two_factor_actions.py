"""The second factor.

Enrolment, its codes, and the recovery codes that stand in for them.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from uuid import UUID

import pyotp
import structlog

from service.auth import schema, store
from service.platform.access.caller_status import Window
from service.platform.base.caller import NOBODY
from service.platform.base.problem import Unauthenticated
from service.platform.base.secrets import BadSeal
from service.platform.config import Settings
from service.platform.unit.context import Context

ISSUER = "Cushion"
STEP_SECONDS = 30  # RFC 6238, what every authenticator knows
DIGITS = 6
PURPOSE = "two-factor"
RECOVERY_BYTES = 10
"""Of a recovery code: sixteen letters and digits."""

log = structlog.get_logger()


def tries(settings: Settings, user: str) -> Window:
    """Return the limit of codes that may be tried for one user."""
    return Window(f"two_factor:{user}", settings.two_factor_codes_per_hour, 3600)


def tries_of(ctx: Context, user: str, code: str) -> Window:
    """Return what a code counts in.

    Six digits can be guessed, so they are counted for the user, wherever they come from. A recovery code cannot be:
    whoever tries some uses up their own address, and shuts nobody else out.
    """
    if _is_of_time(_plain(code)):
        return tries(ctx.settings, user)
    return Window(f"recovery:{ctx.origin}", ctx.settings.recovery_codes_per_hour, 3600)


async def enroll(ctx: Context) -> schema.Enrolment:
    """Return a secret for an authenticator.

    The login stays as it is until a code is verified.
    """
    factor = await store.lock_second_factor(ctx, ctx.caller.user_id)
    if factor.two_factor_enabled:
        raise schema.AlreadyEnrolled
    secret = pyotp.random_base32()
    await store.begin_enrolment(ctx, ctx.caller.user_id, ctx.resources.vault.seal(PURPOSE, secret.encode()))
    ctx.set_subject("user", ctx.caller.user_id, factor.email)
    return schema.Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=factor.email, issuer_name=ISSUER))


async def verify(ctx: Context, code: str) -> schema.RecoveryCodes:
    """Turn the second factor on; recovery codes are in this answer only."""
    user_id = ctx.caller.user_id
    factor = await store.lock_second_factor(ctx, user_id)
    if factor.two_factor_pending is None:
        raise schema.EnrolmentNotBegun
    step = _step_of(ctx, factor.two_factor_pending, _plain(code), after=0)
    if step is None:
        raise schema.InvalidCode
    codes = [_new_recovery_code() for _ in range(schema.RECOVERY_CODES)]
    await store.enable_two_factor(ctx, user_id, step, [_fingerprint(ctx, user_id, _plain(code)) for code in codes])
    ctx.set_subject("user", user_id, factor.email)
    return schema.RecoveryCodes(codes)


async def disable(ctx: Context, code: str) -> None:
    """Turn the second factor off, by one of its codes."""
    user_id = ctx.caller.user_id
    await ctx.limit([tries_of(ctx, str(user_id), code)])
    factor = await store.lock_second_factor(ctx, user_id)
    if not factor.two_factor_enabled:
        raise schema.NotEnrolled
    if not await _fits(ctx, user_id, factor, code):
        raise schema.InvalidCode
    await store.disable_two_factor(ctx, user_id)
    ctx.set_subject("user", user_id, factor.email)


async def prove(ctx: Context, user_id: UUID, code: str) -> bool:
    """Use up a user's code; return whether it is right."""
    return await _fits(ctx, user_id, await store.lock_second_factor(ctx, user_id), code)


async def has_code(ctx: Context, account: schema.Account | None, code: str) -> bool:
    """Use up a code of an account; return whether it is right.

    An unknown user, and one without a second factor, take the same statements.
    """
    enrolled = account if account is not None and account.two_factor_enabled else None
    await ctx.enter_tenant(NOBODY if enrolled is None else enrolled.tenant_id)
    try:
        factor = await store.lock_second_factor(ctx, NOBODY if enrolled is None else enrolled.user_id)
    except Unauthenticated:
        return False
    return enrolled is not None and factor.two_factor_enabled and await _fits(ctx, enrolled.user_id, factor, code)


async def _fits(ctx: Context, user_id: UUID, factor: schema.SecondFactor, code: str) -> bool:
    if factor.two_factor_secret is None:  # turned off since the login found it on
        return not factor.two_factor_enabled
    code = _plain(code)
    if not _is_of_time(code):
        return await store.use_recovery_code(ctx, user_id, _fingerprint(ctx, user_id, code))
    step = _step_of(ctx, factor.two_factor_secret, code, after=factor.two_factor_step)
    if step is None:
        return False
    await store.note_step(ctx, user_id, step)
    return True


def _step_of(ctx: Context, sealed: str, code: str, *, after: int) -> int | None:
    """Return the time step of a code, later than `after`.

    The present one or a neighbour, since clocks differ.
    """
    try:
        secret = ctx.resources.vault.open(PURPOSE, sealed).decode()
    except BadSeal:  # the deployment has another secret key than when the user enrolled
        log.error("two_factor.unreadable")
        return None
    present = int(ctx.now().timestamp()) // STEP_SECONDS
    generator = pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS)
    fitting = [
        step
        for step in (present - 1, present, present + 1)
        if hmac.compare_digest(generator.generate_otp(step).encode(), code.encode()) and step > after
    ]
    return fitting[0] if fitting else None


def _new_recovery_code() -> str:
    code = base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode("ascii")
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))


def _is_of_time(code: str) -> bool:
    """Return whether a plain code is an authenticator's, rather than a recovery code."""
    return len(code) == DIGITS


def _plain(code: str) -> str:
    """Return a code without blanks and dashes, in capitals."""
    return "".join(char for char in code if char not in "- \t").upper()


def _fingerprint(ctx: Context, user_id: UUID, code: str) -> bytes:
    return ctx.resources.vault.fingerprint("recovery code", f"{user_id} {code}")
