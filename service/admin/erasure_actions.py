"""Erasing a person: who may ask for it, and what happens at once."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from service.admin import store
from service.admin.schema import Erase, Erasure, NotConfirmed, OwnerStays, SelfStays, UserExists
from service.auth import shared as identity
from service.platform.unit.context import Context

PAUSE_SECONDS = 1.0
"""Before the first look at whether the user's last events have arrived in the audit log."""


def token_of(user_id: UUID) -> str:
    """Return the text that replaces an erased person everywhere."""
    return f"erased-{user_id}"


async def erase(ctx: Context, user_id: UUID, body: Erase) -> Erasure:
    """Remove a user and have their person erased by a job.

    Raises:
        NotConfirmed: it is not the user's e-mail that confirms it.
        OwnerStays, SelfStays: such users stay.
        UserExists: the user was removed and came back as another one, whose e-mail it is now.
    """
    await store.lock_owners(ctx)
    person = await store.lock_person(ctx, user_id)
    token = token_of(user_id)
    if body.confirm.strip().lower() not in (person.email.lower(), token):
        raise NotConfirmed
    if person.email == token:
        ctx.skip_event()
        return Erasure(user_id=user_id, token=token, status="erased")
    if person.role == "owner" and person.removed_at is None:
        raise OwnerStays
    if user_id == ctx.caller.user_id:
        raise SelfStays
    if person.is_back:
        raise UserExists
    await store.withdraw_invitation(ctx, user_id)
    await store.remove_user(ctx, user_id)
    key_hashes = await store.revoke_keys_of(ctx, user_id)
    await identity.revoke_tokens(ctx, user_id)
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, key_hashes))
    arguments = {"user_id": user_id, "asked_at": ctx.now()}
    await ctx.enqueue("admin.erase", queue="default", arguments=arguments, delay_seconds=PAUSE_SECONDS)
    ctx.set_subject("user", user_id, token)
    return Erasure(user_id=user_id, token=token, status="erasing")
