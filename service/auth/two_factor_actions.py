"""The second factor: enrolment, its codes, and the recovery codes that stand in for them."""

from __future__ import annotations

import base64
import hmac
import secrets
from uuid import UUID

import pyotp
import structlog

from service.auth import store
from service.auth.schema import (
    RECOVERY_CODES,
    Account,
    AlreadyEnrolled,
    Enrolment,
    EnrolmentNotBegun,
    InvalidCode,
    NotEnrolled,
    RecoveryCodes,
    SecondFactor,
)
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
    """Codes of an authenticator that may be tried for one user, at the login and behind it."""
    return Window(f"two_factor:{user}", settings.two_factor_codes_per_hour, 3600)


def tries_of(ctx: Context, user: str, code: str) -> Window:
    """What a code counts in.

    Six digits can be guessed, so they are counted for the user, wherever they come from. A recovery code cannot be:
    whoever tries some uses up their own address, and shuts nobody else out.
    """
    if _is_of_time(_plain(code)):
        return tries(ctx.settings, user)
    return Window(f"recovery:{ctx.origin}", ctx.settings.recovery_codes_per_hour, 3600)


async def enroll(ctx: Context) -> Enrolment:
    """A secret for the user's authenticator. Until a code of it is verified, the login stays as it is."""
    factor = await store.lock_second_factor(ctx, ctx.caller.user_id)
    if factor.two_factor_enabled:
        raise AlreadyEnrolled
    secret = pyotp.random_base32()
    await store.begin_enrolment(ctx, ctx.caller.user_id, ctx.resources.vault.seal(PURPOSE, secret.encode()))
    ctx.concerns("user", ctx.caller.user_id, factor.email)
    return Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=factor.email, issuer_name=ISSUER))


async def verify(ctx: Context, code: str) -> RecoveryCodes:
    """Turn the second factor on; the recovery codes are told this once."""
    user_id = ctx.caller.user_id
    factor = await store.lock_second_factor(ctx, user_id)
    if factor.two_factor_pending is None:
        raise EnrolmentNotBegun
    step = _step_of(ctx, factor.two_factor_pending, _plain(code), after=0)
    if step is None:
        raise InvalidCode
    codes = [_new_recovery_code() for _ in range(RECOVERY_CODES)]
    await store.enable_two_factor(ctx, user_id, step, [_fingerprint(ctx, user_id, _plain(code)) for code in codes])
    ctx.concerns("user", user_id, factor.email)
    return RecoveryCodes(codes)


async def disable(ctx: Context, code: str) -> None:
    """Turn the second factor off, by one of its codes."""
    user_id = ctx.caller.user_id
    await ctx.limit([tries_of(ctx, str(user_id), code)])
    factor = await store.lock_second_factor(ctx, user_id)
    if not factor.two_factor_enabled:
        raise NotEnrolled
    if not await _fits(ctx, user_id, factor, code):
        raise InvalidCode
    await store.disable_two_factor(ctx, user_id)
    ctx.concerns("user", user_id, factor.email)


async def prove(ctx: Context, user_id: UUID, code: str) -> bool:
    """Whether the code is the user's; it is used up then, as soon as this transaction is safe."""
    return await _fits(ctx, user_id, await store.lock_second_factor(ctx, user_id), code)


async def has_code(ctx: Context, account: Account | None, code: str) -> bool:
    """Whether the code is that of an account whose second factor is on; used up as `prove` says.

    Of nobody, and of who has none, the same is asked.
    """
    enrolled = account if account is not None and account.two_factor_enabled else None
    await ctx.enter_tenant(NOBODY if enrolled is None else enrolled.tenant_id)
    try:
        factor = await store.lock_second_factor(ctx, NOBODY if enrolled is None else enrolled.user_id)
    except Unauthenticated:
        return False
    return enrolled is not None and factor.two_factor_enabled and await _fits(ctx, enrolled.user_id, factor, code)


async def _fits(ctx: Context, user_id: UUID, factor: SecondFactor, code: str) -> bool:
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
    """The time step whose code this is: the present one or a neighbour (clocks differ), later than `after`."""
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
    """Whether a plain code is an authenticator's, rather than a recovery code."""
    return len(code) == DIGITS


def _plain(code: str) -> str:
    """A code as it was meant: people write blanks and dashes, and small letters."""
    return "".join(char for char in code if char not in "- \t").upper()


def _fingerprint(ctx: Context, user_id: UUID, code: str) -> bytes:
    return ctx.resources.vault.fingerprint("recovery code", f"{user_id} {code}")
