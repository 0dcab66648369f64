"""A streaming replica of PostgreSQL.

Its reads, nobody missing what they wrote, and what happens without it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from redis import Redis

from service.app import routes
from tests.conftest import Member, register, wait_until
from tests.faults.several import Machines, Postgres, machines, postgres

DEALS = "/api/v1/deals"
LAG_SECONDS = 3


@pytest.fixture(scope="module")
def copied() -> Iterator[tuple[Machines, Postgres]]:
    """Two APIs beside a primary and its replica."""
    with (
        machines(CUSHION_DRAIN_SECONDS="0", CUSHION_DEFAULT_TIER="enterprise") as running,
        postgres(running.folder / "replica", running.database) as replica,
    ):
        url = replica.url("cushion_service")
        running.environment |= {"CUSHION_REPLICA_URL": url, "CUSHION_REPLICA_LAG_SECONDS": str(LAG_SECONDS)}
        running.add("serve", "serve")
        yield running, replica


@pytest.fixture
def owners(copied: tuple[Machines, Postgres]) -> tuple[Member, Member]:
    """The owner of a tenant at each API."""
    first, second = copied[0].all
    owner = register(first.url)
    client = httpx.Client(base_url=second.url, headers=owner.http.headers, timeout=60)
    return owner, Member(client, owner.tokens, owner.email, owner.tenant_id, owner.user_id)


def named(who: Member) -> set[str]:
    """The deals that are listed."""
    answer = who.get(DEALS, params={"page_size": 100})
    assert answer.status_code == 200, answer.text
    return {deal["name"] for deal in answer.json()["items"]}


def create(who: Member, name: str) -> dict[str, Any]:
    answer = who.post(DEALS, json={"name": name, "currency": "USD"})
    assert answer.status_code == 201, answer.text
    deal: dict[str, Any] = answer.json()
    return deal


@contextmanager
def paused(replica: Postgres) -> Iterator[None]:
    """Within, the replica replays nothing."""
    replica.sql("SELECT pg_wal_replay_pause()")
    wait_until(lambda: replica.sql("SELECT pg_get_wal_replay_pause_state()") == [("paused",)], what="the pause")
    try:
        yield
    finally:
        replica.sql("SELECT pg_wal_replay_resume()")


def answering(who: Member, copied: tuple[Machines, Postgres]) -> None:
    """Wait until the replica answers.

    It is asked for a row that only it has still, replaying nothing meanwhile.
    """
    running, replica = copied
    deal = create(who, "Before")["id"]

    def old() -> bool:
        named(who)
        time.sleep(1.2)  # for a look
        with paused(replica):
            running.database.sql("UPDATE deals SET name = 'After' WHERE id = %s", [deal])  # and nobody notes that
            result = named(who)
            running.database.sql("UPDATE deals SET name = 'Before' WHERE id = %s", [deal])
        return "Before" in result

    wait_until(old, what="an answer of the replica", seconds=30)


def test_lists_are_read_there_and_what_one_wrote_is_in_them(
    copied: tuple[Machines, Postgres], owners: tuple[Member, Member]
) -> None:
    first, second = owners
    for who in owners:
        answering(who, copied)
    with paused(copied[1]):
        for number in range(10):
            create(owners[number % 2], f"Deal {number}")
            assert f"Deal {number}" in named(first) & named(second)
        with Redis.from_url(copied[0].redis_url) as redis:  # its notes are gone, and the replica is as far behind
            redis.flushdb()
        for _ in range(10):
            assert "Deal 9" in named(first) & named(second)
            time.sleep(0.15)
    answering(second, copied)


def test_a_replica_that_is_behind_is_not_read(copied: tuple[Machines, Postgres], owners: tuple[Member, Member]) -> None:
    """By more than the bound: also where nobody noted a write."""
    who = owners[0]
    answering(who, copied)
    deal = create(who, "Old")["id"]
    with paused(copied[1]):
        copied[0].database.sql("UPDATE deals SET name = 'New' WHERE id = %s", [deal])
        begun = time.monotonic()
        while "New" not in named(who):
            assert time.monotonic() - begun < LAG_SECONDS + 4
            time.sleep(0.2)
        time.sleep(LAG_SECONDS)
        copied[0].database.sql("UPDATE deals SET name = 'Newest' WHERE id = %s", [deal])
        assert "Newest" in named(who)
    answering(who, copied)


def test_row_security_holds_there(copied: tuple[Machines, Postgres], owners: tuple[Member, Member]) -> None:
    stranger = register(copied[0].all[0].url)
    create(stranger, "Theirs")
    for who in (owners[0], stranger):
        answering(who, copied)
        assert ("Theirs" in named(who)) == (who is stranger)


def test_every_such_route_answers_as_the_primary(
    copied: tuple[Machines, Postgres], owners: tuple[Member, Member]
) -> None:
    """A handler that wrote would be refused by the replica.

    What is read is the same, to the byte.
    """
    who = owners[0]
    deal = create(who, "One")["id"]
    paths = [route.path.format(deal_id=deal, result_id=deal) for route in routes() if route.lags]
    assert len(paths) > 5
    read = copied[1].sql
    answering(who, copied)
    before = [who.get(path) for path in paths]
    assert {answer.status_code for answer in before} <= {200, 404}
    counted = "SELECT sum(tup_returned + tup_fetched) FROM pg_stat_database WHERE datname = 'cushion'"
    first = read(counted)[0][0]
    answers = [who.get(path) for path in paths]
    wait_until(lambda: read(counted)[0][0] > first, what="work of the replica")
    assert [answer.content for answer in answers if answer.status_code == 200] == [
        answer.content for answer in before if answer.status_code == 200
    ]
    text = "".join(machine.log_text() for machine in copied[0].all)
    assert '"level":"error"' not in text


def test_without_the_replica_nobody_notices(copied: tuple[Machines, Postgres], owners: tuple[Member, Member]) -> None:
    """Killed, or hanging.

    Each list is answered, the first after a wait that is bounded.
    """
    replica = copied[1]
    who = owners[0]
    answering(who, copied)
    replica.stop(signal.SIGQUIT)
    for number in range(20):
        create(who, f"Deal {number}")
        assert f"Deal {number}" in named(who)
    replica.start()
    answering(who, copied)
    replica.hang()
    try:
        begun = time.monotonic()
        assert "Deal 19" in named(who)
        assert time.monotonic() - begun < 12
        begun = time.monotonic()
        for _ in range(10):
            named(who)
        assert time.monotonic() - begun < 2
    finally:
        replica.go_on()
    answering(who, copied)
