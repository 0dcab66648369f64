"""Passwords: changed by who knows them, reset by who reads the account's mail."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from service.auth import schema, store
from service.auth.actions import check_address, renew_cookie
from service.platform.access.caller_status import Window
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import digest, hash_password, new_id, new_token, verify_password
from service.platform.unit.context import Context, Subject, Unit
from service.platform.work import mail


async def change(ctx: Context, body: schema.PasswordChange) -> None:
    """Replace the caller's password, and end all other sessions.

    A browser's session goes on with a new refresh token.
    """
    if body.new_password == body.current_password:
        raise ValidationFailed(Fault(["body", "new_password"], "this is the present password"))
    user_id, session_id = ctx.caller.user_id, ctx.caller.session_id
    assert session_id is not None
    old_hash = await store.password_hash(ctx, user_id)
    await ctx.commit()  # no connection is held while the passwords are hashed
    if old_hash is None or not await ctx.hash(verify_password, body.current_password, old_hash):
        raise schema.IncorrectPassword
    new_hash = await ctx.hash(hash_password, body.new_password)
    if not await store.replace_password(ctx, user_id, old_hash, new_hash):
        raise schema.IncorrectPassword
    await store.end_other_sessions(ctx, user_id, session_id)
    await store.end_resets(ctx, user_id)
    await renew_cookie(ctx)
    ctx.set_subject("user", user_id, await ctx.email())


async def forget(ctx: Context, body: schema.PasswordForgotten) -> schema.ResetAccepted:
    """Send a reset letter to whoever has this e-mail.

    All work follows the answer, so its time says nothing of whether somebody has.
    """
    email = await store.fold_email(ctx, body.email.strip())
    await ctx.commit()
    account = ctx.resources.vault.fingerprint("forgot", email).hex()
    await ctx.limit([Window(f"forgot:{account}", ctx.settings.password_changes_per_hour, 3600)])
    ctx.after_answer(partial(_send_reset, ctx, email))
    return schema.ResetAccepted()


async def reset(ctx: Context, body: schema.PasswordReset) -> None:
    """Set a new password by a letter's token; void all tokens."""
    pending = await store.find_reset(ctx, digest(body.token))
    if pending is None or pending.used_at is not None or pending.expires_at <= ctx.now():
        raise schema.InvalidResetToken
    await ctx.commit()  # no connection is held while the password is hashed
    await check_address(ctx, pending.tenant_id)
    new_hash = await ctx.hash(hash_password, body.new_password)
    await ctx.enter_tenant(pending.tenant_id)
    email = await store.set_password(ctx, pending.user_id, new_hash)
    if email is None or not await store.use_reset(ctx, pending.id):
        raise schema.InvalidResetToken
    await store.end_resets(ctx, pending.user_id)
    await store.revoke_tokens(ctx, pending.user_id)
    await store.forget_origins(ctx, pending.user_id)  # a thief may have logged in, too
    ctx.set_subject("user", pending.user_id, email)


async def _send_reset(ctx: Context, email: str) -> None:
    unit = Unit(ctx.resources, None, request_id=ctx.request_id)
    try:
        account = await store.find_account(unit, email)
        if account is not None and account.status == "active" and account.tenant_status == "active":
            await unit.enter_tenant(account.tenant_id)
            await _post_reset(unit, account)
            await unit.audit(
                "user.password_reset_requested",
                Subject("user", str(account.user_id), account.email),
                user_id=account.user_id,
                user_email=account.email,
                ip_address=ctx.ip_address,
                user_agent=ctx.user_agent,
            )
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise


async def _post_reset(unit: Unit, account: schema.Account) -> None:
    token, token_hash = new_token()
    expires_at = unit.now() + timedelta(seconds=unit.settings.password_reset_seconds)
    await store.create_reset(unit, new_id(), account.user_id, token_hash, expires_at)
    letter = mail.password_reset(
        unit.settings,
        to=account.email,
        full_name=account.full_name,
        token=token,
        expires_at=await unit.local_time(expires_at),
    )
    await mail.post(unit, letter)
