"""Notifications over HTTP: a user's own, the newest first, read once."""

from __future__ import annotations

from uuid import uuid4

from tests.conftest import Member, Stack

URL = "/api/v1/notifications"


def notify(stack: Stack, who: Member, title: str, minutes: int) -> str:
    """A notification of so many minutes ago."""
    ((id_,),) = stack.sql(
        """
        INSERT INTO notifications (tenant_id, id, user_id, type, priority, title, message, created_at)
        VALUES (%s, gen_random_uuid(), %s, 'test.told', 'normal', %s, 'text', now() - make_interval(mins => %s))
        RETURNING id::text
        """,
        [who.tenant_id, who.user_id, title, minutes],
    )
    return str(id_)


def test_whoever_was_told_reads_it(stack: Stack, owner: Member, stranger: Member) -> None:
    colleague = owner.invite("viewer")
    first, second = notify(stack, owner, "first", 5), notify(stack, owner, "second", 1)
    another = notify(stack, colleague, "other", 3)

    def titles(who: Member, **query: object) -> list[str]:
        return [item["title"] for item in who.get(URL, params=query).json()["items"]]

    assert titles(owner) == ["second", "first"]
    assert titles(owner, page_size=1, page=2) == ["first"]
    assert (titles(colleague), titles(stranger)) == (["other"], [])
    assert titles(owner.key("workbooks:read")) == ["second", "first"], "a key is its creator's"
    answer = owner.post(f"{URL}/{second}/read")
    assert (answer.status_code, answer.content) == (204, b"")
    assert (titles(owner, unread=True), titles(owner, unread=False)) == (["first"], ["second"])
    read_at = owner.get(URL).json()["items"][0]["read_at"]
    owner.post(f"{URL}/{second}/read")
    assert owner.get(URL).json()["items"][0]["read_at"] == read_at, "read is read"
    for who, notification in ((owner, another), (stranger, first), (owner, str(uuid4())), (owner, "none")):
        refused = who.post(f"{URL}/{notification}/read")
        assert (refused.status_code, refused.json()["detail"]) == (404, "Notification not found")
    assert titles(colleague, unread=True) == ["other"]


def test_all_are_read_at_once(stack: Stack, owner: Member) -> None:
    colleague = owner.invite("viewer")
    first, _, _ = (
        notify(stack, owner, "first", 5),
        notify(stack, owner, "second", 1),
        notify(stack, colleague, "other", 3),
    )
    owner.post(f"{URL}/{first}/read")

    def read_at(who: Member) -> list[str | None]:
        return [item["read_at"] for item in who.get(URL).json()["items"]]

    ((second, before),) = [read_at(owner)]
    assert second is None
    answer = owner.post(f"{URL}/read-all")
    assert (answer.status_code, answer.content) == (204, b"")
    assert owner.get(URL, params={"unread": True}).json()["total"] == 0
    assert read_at(owner)[1] == before, "read is read"
    assert read_at(colleague) == [None], "a colleague's are not"
    again = read_at(owner)
    assert owner.post(f"{URL}/read-all").status_code == 204
    assert read_at(owner) == again
    refused = owner.key("workbooks:read").post(f"{URL}/read-all")
    assert (refused.status_code, refused.json()["detail"]) == (403, "Insufficient permissions")
