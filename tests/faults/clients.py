"""Many clients in one process.

Bare HTTP over asyncio, so that the machine's time is the service's.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from tests.conftest import Member
from tests.records import MAPPING, small_book

ANSWER_SECONDS: Final = 45.0
"""Within which every request is answered or its connection ends, whatever is broken: 30 s of a statement and some."""
BOUNDARY: Final = "cushion-faults"
MARK: Final = re.compile(rb"mark[0-9a-f]{12}")
"""Every text that a tenant's clients write holds its mark, so whoever reads another one's sees it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request got; status 0 where nobody answered."""

    status: int
    content: bytes = b""
    head: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def undecided(self) -> bool:
        """Whether the service may have done it all the same."""
        return self.status in (0, 503)

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Book:
    """What the clients saw, and what must be so in the end."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    """Answers that must never be."""
    created: dict[str, set[str]] = field(default_factory=dict)
    """Identifiers by table."""
    deleted: dict[str, set[str]] = field(default_factory=dict)
    perhaps_deleted: set[str] = field(default_factory=set)
    values: dict[str, set[str]] = field(default_factory=dict)
    """What each changed mapping's description may be: the last value answered, and those since that were not."""
    once: dict[str, str] = field(default_factory=dict)
    """The name of each record that was asked for until it was there, and its identifier."""
    calculations: int = 0
    """How many were answered: each is an event that no commit of its own carries."""
    slowest_seconds: float = 0.0
    """Of the answers that came."""
    silences: list[float] = field(default_factory=lambda: [0.0])
    """For how long nobody was answered 2xx, each time."""
    last: float = 0.0

    def create(self, table: str, answer: Answer) -> str | None:
        if answer.ok:
            self.created.setdefault(table, set()).add(answer.json()["id"])
            return str(answer.json()["id"])
        return None


class Connection:
    """One kept-alive connection, made anew when it ended."""

    def __init__(self, url: str, token: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._place = host, int(port)
        self._head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\n".encode()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json", *, key: str | None = None
    ) -> Answer:
        """One request; status 0 where its connection ended without an answer."""
        more = f"Idempotency-Key: {key}\r\n" if key else ""
        head = f"{method} {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}"
        whole = False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await self._connected()
                writer.write(head.encode() + self._head + b"\r\n" + body)
                await writer.drain()
                answer = await _read(reader)
                whole = b"connection: close" not in answer.head
                return answer
        except (OSError, asyncio.IncompleteReadError) as error:
            if isinstance(error, TimeoutError):
                raise AssertionError(f"{method} {path} was not answered in {ANSWER_SECONDS} s") from None
            return Answer(0)
        finally:
            if not whole:
                self.close()

    def close(self) -> None:
        """Give the connection up."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection(*self._place)
        return self._streams


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head[9:12])
    if match := re.search(rb"\ncontent-length: (\d+)", head):
        return Answer(status, await reader.readexactly(int(match[1])), head)
    content = bytearray()
    if b"transfer-encoding: chunked" in head:
        while size := int(await reader.readuntil(b"\r\n"), 16):
            content += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    return Answer(status, bytes(content), head)


class Client:
    """One user at work; what it holds true afterwards stands in the book."""

    def __init__(self, url: str, token: str, mark: str, workbook_id: str, sums_to: float, book: Book) -> None:
        self.connection = Connection(url, token)
        self._mark = mark
        self._workbook_id = workbook_id
        self._sums_to = sums_to
        self._book = book
        self._mapping_id: str | None = None
        self._uploads: list[str] = []
        self._chance = random.Random(mark + uuid4().hex)

    async def work_until(self, end: Callable[[], bool], *, pause_seconds: float) -> None:
        """Ask this and that, with pauses, until the end; each unit is finished."""
        acts: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self._evaluate, 28),
            (self._evaluate_cells, 16),
            (self._batch, 8),
            (self._list, 20),
            (self._change, 14),
            (self._run, 5),
            (self._once, 4),
            (self._upload, 2),
            (self._delete, 2),
            (self._export, 1),
        ]
        await asyncio.sleep(self._chance.random() * pause_seconds)
        while not end():
            (act,) = self._chance.choices([act for act, _ in acts], [weight for _, weight in acts])
            await act()
            await asyncio.sleep(pause_seconds * (0.5 + self._chance.random()))

    async def _ask(self, method: str, path: str, sent: Any = None, **more: Any) -> Answer:
        body = sent if isinstance(sent, bytes) else b"" if sent is None else json.dumps(sent).encode()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        answer = await self.connection.ask(method, "/api/v1" + path, body, **more)
        self._book.slowest_seconds = max(self._book.slowest_seconds, loop.time() - begun)
        if answer.ok:
            self._book.calculations += path.startswith("/calculations/")
            now = loop.time()
            if self._book.last and now - self._book.last > 1:
                self._book.silences.append(now - self._book.last)
            self._book.last = now
        name = f"{method} {re.sub('/[0-9a-f-]{36}', '/{}', path)}"
        self._book.statuses[name, answer.status] += 1
        note = f"{name}: {answer.status} {answer.content[:300].decode(errors='replace')}"
        if answer.status >= 500 and answer.status != 503:
            self._book.faults.append(note)
        if answer.status == 503 and b"\r\nretry-after: " not in answer.head:
            self._book.faults.append(f"no Retry-After: {note}")
        if {result.decode() for result in MARK.findall(answer.content)} - {self._mark}:
            self._book.faults.append(f"another tenant's: {note}")
        if answer.status in (400, 401, 403, 413, 415, 422):
            self._book.faults.append(f"a right request is refused: {note}")
        if answer.status == 0:
            await asyncio.sleep(0.2)
        return answer

    def _wrong(self, what: str, answer: Answer) -> None:
        self._book.faults.append(f"{what}: {answer.content[:300].decode(errors='replace')}")

    async def _evaluate(self) -> None:
        figure = self._chance.randrange(10_000)
        sent = {"formula": f'=A1*2&"{self._mark}"', "context": {"A1": figure}}
        answer = await self._ask("POST", "/calculations/evaluate", sent)
        if answer.ok and answer.json()["value"] != f"{figure * 2}{self._mark}":
            self._wrong("a wrong value", answer)

    async def _evaluate_cells(self) -> None:
        sent = {"formula": "=SUM(Loans!B2:B3)", "workbook_id": self._workbook_id}
        answer = await self._ask("POST", "/calculations/evaluate", sent)
        if answer.ok and answer.json()["value"] != self._sums_to:
            self._wrong("another workbook's sum", answer)

    async def _batch(self) -> None:
        formulas = [{"id": str(number), "formula": f"=A1+{number}"} for number in range(50)]
        answer = await self._ask("POST", "/calculations/batch", {"formulas": formulas, "shared_context": {"A1": 7}})
        if answer.ok and [result["value"] for result in answer.json()["results"]] != [
            7 + number for number in range(50)
        ]:
            self._wrong("wrong values", answer)

    async def _list(self) -> None:
        path = self._chance.choice(
            [
                "/workbooks",
                "/mappings",
                "/activity",
                "/exports",
                f"/workbooks/{self._workbook_id}",
                f"/workbooks/{self._workbook_id}/sheets/Loans/data",
            ]
        )
        await self._ask("GET", path)

    async def _change(self) -> None:
        """A record of this client's alone, whose last value it knows."""
        if self._mapping_id is None:
            sent = MAPPING | {"name": f"{self._mark} {uuid4().hex[:12]}", "description": "0"}
            answer = await self._ask("POST", "/mappings", sent)
            self._mapping_id = self._book.create("mappings", answer)
            if self._mapping_id is not None:
                self._book.values[self._mapping_id] = {"0"}
            return
        value = uuid4().hex
        answer = await self._ask("PATCH", f"/mappings/{self._mapping_id}", {"description": value})
        if answer.ok:
            self._book.values[self._mapping_id] = {value}
        elif answer.undecided:
            self._book.values[self._mapping_id].add(value)
        elif answer.status == 404:
            self._wrong("a record is gone", answer)

    async def _run(self) -> None:
        answer = await self._ask("POST", "/compliance/run", {"workbook_id": self._workbook_id})
        self._book.create("compliance_runs", answer)

    async def _upload(self) -> None:
        content = small_book([("Borrower Name", "Par Value"), (f"{self._mark} {uuid4().hex}", 1)])
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{self._mark}.xlsx"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        answer = await self._ask("POST", "/workbooks/upload", body, kind=f"multipart/form-data; boundary={BOUNDARY}")
        if result := self._book.create("workbooks", answer):
            self._uploads.append(result)

    async def _delete(self) -> None:
        if not self._uploads:
            return
        gone = self._uploads.pop(0)
        answer = await self._ask("DELETE", f"/workbooks/{gone}")
        if answer.ok:
            self._book.deleted.setdefault("workbooks", set()).add(gone)
        elif answer.undecided:
            self._book.perhaps_deleted.add(gone)
        elif answer.status == 409:  # it is still being read
            self._uploads.append(gone)

    async def _once(self) -> None:
        """Asked for with one key until it is there: then it is there once."""
        name, key = f"{self._mark} once {uuid4().hex}", uuid4().hex
        for _ in range(60):
            sent = {"name": name, "base_workbook_id": self._workbook_id}
            answer = await self._ask("POST", "/scenarios", sent, key=key)
            if result := self._book.create("scenarios", answer):
                self._book.once[name] = result
                return
            if not (answer.undecided or answer.status in (409, 429)):
                self._wrong("a repetition is refused", answer)
                return
            await asyncio.sleep(0.5)

    async def _export(self) -> None:
        answer = await self._ask("POST", "/exports", {"workbook_id": self._workbook_id, "format": "csv"})
        self._book.create("exports", answer)


@dataclass(frozen=True, slots=True)
class Tenant:
    """An owner whose texts hold a mark, with a workbook that is ready and whose sum is nobody else's."""

    owner: Member
    mark: str
    workbook_id: str
    sums_to: float


def prepared(owner: Member, number: int) -> Tenant:
    """A tenant's mark and workbook."""
    mark = f"mark{uuid4().hex[:12]}"
    rows = [("Borrower Name", "Par Value"), (f"{mark} A", 1000.0 + number), (f"{mark} B", 5000.0)]
    answer = owner.post("/api/v1/workbooks/upload", files={"file": (f"{mark}.xlsx", small_book(rows))})
    assert answer.status_code == 201, answer.text
    assert owner.parsed(answer.json()["id"])["status"] == "ready"
    return Tenant(owner, mark, answer.json()["id"], 6000.0 + number)


async def at_work(
    url: str,
    tenants: list[Tenant],
    *,
    each: int,
    seconds: float,
    pause_seconds: float,
    book: Book,
    beside: Awaitable[object],
) -> None:
    """So many clients of each tenant at work for so long, and `beside` it what is done to the service meanwhile."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    clients = [
        Client(url, tenant.owner.tokens["access_token"], tenant.mark, tenant.workbook_id, tenant.sums_to, book)
        for tenant in tenants
        for _ in range(each)
    ]
    works = [client.work_until(lambda: loop.time() > end, pause_seconds=pause_seconds) for client in clients]
    try:
        await asyncio.gather(beside, *works)
    finally:
        for client in clients:
            client.connection.close()
        await asyncio.sleep(0)  # the transports close their sockets
