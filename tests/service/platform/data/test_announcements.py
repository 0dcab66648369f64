"""Announcements of state changes.

Whom a message wakes, how many may wait, and what stopping does.
"""

from __future__ import annotations

import asyncio
from uuid import uuid4

from service.platform.data.announcements import Announcements
from tests.conftest import Stack

HEARD_SECONDS = 5.0


def test_a_message_wakes_who_waits_for_that_record_of_that_tenant(stack: Stack) -> None:
    async def act() -> None:
        mine, second, stopping = uuid4(), uuid4(), asyncio.Event()
        heard = Announcements(
            stack.environment["CUSHION_DATABASE_URL"], stopping, tenant_waiters=2, statement_seconds=30
        )
        listening = asyncio.create_task(heard.run())
        try:
            with heard.place(mine, "tape_1") as item, heard.place(mine, "tape_2") as two:
                with heard.place(second, "tape_1") as stranger, heard.place(mine, "tape_1") as third:
                    assert item is not None
                    assert two is not None
                    assert stranger is not None
                    assert third is None, "a tenant has two places"
                    assert heard.waiting == 3
                    await asyncio.wait_for(item.wait(), HEARD_SECONDS)  # whoever waits is woken once it listens
                    for event in (item, two, stranger):
                        event.clear()
                    await asyncio.to_thread(stack.sql, "SELECT pg_notify('cushion_states', %s)", [f"{mine} tape_1"])
                    await asyncio.wait_for(item.wait(), HEARD_SECONDS)
                    assert (two.is_set(), stranger.is_set()) == (False, False)
                stopping.set()
                await asyncio.wait_for(two.wait(), HEARD_SECONDS)
                with heard.place(second, "tape_1") as late:
                    assert late is None, "the process stops"
            assert heard.waiting == 0
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    asyncio.run(act())
