"""What goes on while a part that the service depends on is away, what is refused at once, and that it comes back."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import xlsxwriter
from redis import Redis

from service.host.embedded import Embedded
from service.platform.data.database import as_service
from service.platform.data.migrations import migrate
from tests.conftest import APPLICATION, GENEROUS, Member, Stack, _api, _stop, register, start_worker, wait_until

AT_ONCE_SECONDS = 5.0
"""Half of the ten seconds for which a connection is waited for; the machine may be busy."""
FORMULA = {"formula": "=SUM(A1:A3)*2", "context": {"A1": 1, "A2": 2, "A3": 3}}
THRESHOLD = {"test_id": "single_obligor", "threshold_value": 2.5}


class Parts:
    """A service whose parts a test stops and starts again."""

    def __init__(self, stack: Stack, servers: Embedded) -> None:
        self.stack, self._servers = stack, servers
        self.redis, self.postgres = servers._servers
        self.owner = register(stack.url)

    def restart(self) -> None:
        self._servers.restart()

    def states(self) -> dict[str, set[str]]:
        """The state of each breaker in the processes that told one."""
        result: dict[str, set[str]] = {}
        with Redis.from_url(self.stack.redis_url) as client:
            for raw in client.hvals("cushion:resilience:processes"):
                for service, figures in json.loads(raw.partition(b" ")[2])["breakers"].items():
                    result.setdefault(service, set()).add(figures["state"])
        return result

    def at_work(self, owner: Member) -> int:
        """How many jobs of a tenant have not ended."""
        sql = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND finished_at IS NULL"
        return int(self.stack.sql(sql, [owner.tenant_id])[0][0])

    def listeners(self) -> int:
        """How many processes hear an order now.

        Some seconds after the return of Redis it is all of them.
        """
        with Redis.from_url(self.stack.redis_url) as client:
            return int(client.pubsub_numsub("cushion:resilience")[0][1])

    def back(self) -> None:
        """Everything works again, by itself."""

        def works() -> bool:
            answer = self.owner.get("/api/v1/workbooks")
            response = self.owner.post(
                "/api/v1/compliance/thresholds", json={"test_id": "single_obligor", "threshold_value": 2.5}
            )
            return answer.status_code == 200 and "x-cushion-stale" not in answer.headers and response.status_code < 500

        wait_until(works, seconds=30, what="the return")


@contextmanager
def parts() -> Iterator[Parts]:
    with tempfile.TemporaryDirectory(prefix="cushion-test-") as folder:
        Path(folder).chmod(0o755)
        data_dir = Path(folder) / "data"
        with Embedded(data_dir) as servers:
            migrate(servers.database_url)
            environment = {
                **GENEROUS,
                "PATH": "/usr/bin:/bin",
                APPLICATION: "tests.quick_app:create",
                "CUSHION_DATABASE_URL": as_service(servers.database_url),
                "CUSHION_REDIS_URL": servers.redis_url,
                "CUSHION_DATA_DIR": str(data_dir),
                "CUSHION_EMBEDDED": "1",
            }
            with _api(environment) as url:
                worker = start_worker(environment)
                stack = Stack(url, servers.database_url, servers.redis_url, data_dir, environment, worker)
                try:
                    yield Parts(stack, servers)
                finally:
                    _stop(stack.worker)


@pytest.fixture(scope="module")
def service() -> Iterator[Parts]:
    with parts() as running:
        yield running


def file(tmp_path: Path, name: str, *, rows: int = 2) -> Path:
    """A workbook of loans that no other name has."""
    path = tmp_path / f"{name}.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Loans")
        sheet.write_row(0, 0, ["cusip", "borrower_name", "par_value", name])
        for row in range(rows):
            sheet.write_row(row + 1, 0, [f"{row:09d}", f"Borrower {row}", 1000 * (row + 1), row * 0.37])
    return path


def book(owner: Member, path: Path) -> str:
    answer = owner.upload(path)
    assert answer.status_code == 201, answer.text
    result: str = answer.json()["id"]
    return result


def refused(ask: Any) -> httpx.Response:
    """An answer of 503 that came at once, and says when to come again."""
    started = time.monotonic()
    answer: httpx.Response = ask()
    seconds = time.monotonic() - started
    assert answer.status_code == 503, (answer.status_code, answer.text)
    assert int(answer.headers["retry-after"]) >= 1
    assert seconds < AT_ONCE_SECONDS, seconds
    return answer


def test_without_postgresql(service: Parts, tmp_path: Path) -> None:
    owner = service.owner
    viewer, gone = owner.invite("viewer"), owner.invite("analyst")
    key, second = owner.key("workbooks:read"), register(service.stack.url)
    workbook = owner.parsed(book(owner, file(tmp_path, "one")))["id"]
    wait_until(lambda: not service.at_work(owner), what="the letters")  # each job that ends drops what was kept
    item, several = f"/api/v1/workbooks/{workbook}", "/api/v1/workbooks?page=1"
    assert owner.patch(item, json={"name": "first"}).status_code == 200
    assert owner.get(item).json()["name"] == "first"
    assert owner.patch(item, json={"name": "second"}).status_code == 200
    assert viewer.get(several).status_code == 200
    fresh = [(who, who.get(item)) for who in (owner, key)]
    assert {answer.json()["name"] for _, answer in fresh} == {"second"}
    assert gone.get(several).status_code == 200
    assert gone.post("/api/v1/auth/logout").status_code == 204
    evaluated = owner.post("/api/v1/calculations/evaluate", json=FORMULA)
    assert evaluated.json()["value"] == 12

    service.postgres.stop()
    wait_until(lambda: owner.get(item).headers.get("x-cushion-stale") == "true", what="the kept answer")
    for who, answer in fresh:
        kept = who.get(item)
        assert (kept.status_code, kept.content, kept.headers["etag"]) == (200, answer.content, answer.headers["etag"])
        assert int(kept.headers["age"]) >= 0
    assert viewer.get(several).headers["x-cushion-stale"] == "true"
    for ask in (
        lambda: viewer.get(item),  # which the viewer never read
        lambda: key.get(several),
        lambda: owner.get(several + "&page_size=7"),
        lambda: owner.patch(item, json={"name": "third"}),
        lambda: owner.post("/api/v1/compliance/thresholds", json=THRESHOLD),
        lambda: owner.upload(tmp_path / "one.xlsx"),
        lambda: httpx.post(service.stack.url + "/api/v1/auth/login", data={"username": "a@b.cd", "password": "x"}),
    ):
        refused(ask)
    assert second.get(item).status_code in (404, 503), "another tenant has none of it"
    assert gone.get(several).status_code == 401, "a revoked token stays out"
    for path, body, name in (
        ("evaluate", FORMULA, "value"),
        ("batch", {"formulas": [FORMULA]}, "summary"),
        ("validate", {"formula": "=SUM(A1:A3)"}, "valid"),
    ):
        answer = owner.post(f"/api/v1/calculations/{path}", json=body)
        assert answer.status_code == 200, answer.text
        assert name in answer.json()
    assert service.states()["database"] == {"open"}

    # The gate's copies are over, and PostgreSQL is still away: they are held, and who was revoked stays out.
    with Redis.from_url(service.stack.redis_url) as client:
        for pattern in ("cushion:tenant:*", "cushion:key:*", "cushion:two_factor:*"):
            for name in client.scan_iter(pattern):
                if not name.endswith((b":kept", b":ticket")):
                    client.delete(name)
        client.delete("cushion:revocations")
        assert owner.post("/api/v1/calculations/evaluate", json=FORMULA).status_code == 200
        kept = key.get(item)
        assert kept.headers.get("x-cushion-stale") == "true", kept.text
        assert gone.get(several).status_code == 401
        client.delete("cushion:revocations", "cushion:revocations:kept")  # a Redis that lost some
        refused(lambda: owner.post("/api/v1/calculations/evaluate", json=FORMULA))

    service.redis.stop()
    refused(lambda: owner.get(item))
    refused(lambda: owner.post("/api/v1/calculations/evaluate", json=FORMULA))
    assert httpx.get(service.stack.url + "/health/live").status_code == 200
    service.restart()
    service.back()
    assert owner.get(item).json()["name"] == "second"
    assert gone.get(several).status_code == 401


def test_without_a_worker(service: Parts, tmp_path: Path) -> None:
    """Small files are read and exported by the API, once.

    Large ones wait for the worker.
    """
    owner, worker = service.owner, service.stack.worker
    worker.kill()
    worker.wait()
    small = book(owner, file(tmp_path, "small"))
    large = book(owner, file(tmp_path, "large", rows=60_000))
    assert owner.parsed(small)["status"] == "ready"
    export = owner.post("/api/v1/exports", json={"workbook_id": small, "format": "csv"})
    assert export.status_code in (201, 202), export.text
    result = export.json()["id"]
    wait_until(
        lambda: owner.get(f"/api/v1/exports/{result}").json()["status"] == "completed", seconds=30, what="the export"
    )
    assert owner.get(f"/api/v1/workbooks/{large}").json()["status"] == "processing"
    service.stack.worker = start_worker(service.stack.environment)
    assert owner.parsed(large)["status"] == "ready"
    ran = service.stack.sql("SELECT status, failures FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert set(ran) == {("completed", 0)}


def test_without_redis_or_a_worker(service: Parts, tmp_path: Path) -> None:
    owner = service.owner
    service.redis.stop()
    assert owner.parsed(book(owner, file(tmp_path, "third")))["status"] == "ready"
    service.restart()
    service.back()


def test_processes_that_disagree_and_what_is_ordered_of_all(service: Parts, tmp_path: Path) -> None:
    """A view has the worst state and every process.

    A reset and a clear reach the process that was not asked.
    """
    owner, store = service.owner, service.stack.data_dir / "blobs"
    wait_until((store / "deployment").exists, what="the worker's mark in the store")
    with service.stack.another_api() as second:

        def view(at: str, path: str) -> Any:
            return httpx.get(f"{at}/health/{path}").json()

        owner.http.get(second + "/api/v1/workbooks").raise_for_status()
        wait_until(lambda: view(service.stack.url, "resilience")["processes"] >= 3, what="the other process")
        store.rename(store.with_name("unmounted"))
        try:
            book = {"file": ("new.xlsx", file(tmp_path, "elsewhere").read_bytes())}
            wait_until(
                lambda: (
                    owner.http.post(second + "/api/v1/workbooks/upload", files=book).status_code == 503
                    and view(second, "circuit-breaker/blobs")["state"] != "closed"
                ),
                seconds=30,
                what="the other's breaker",
            )

            def seen() -> bool:
                answer = view(service.stack.url, "circuit-breaker/blobs")
                return (
                    answer["state"] == "open"
                    and answer["processes"]["open"] == 1
                    and answer["processes"]["closed"] >= 2
                )

            wait_until(seen, what="the worst state")
            wait_until(lambda: service.listeners() == 3, what="every process to listen again")
            ordered = owner.post("/health/reset/blobs").json()
            assert (ordered["processes_reached"], ordered["seen_by"]) == (3, "all_processes")

            def closed() -> bool:
                return any(
                    (event["kind"], event["service"], event["after"], event["reason"])
                    == ("breaker", "blobs", "closed", "reset")
                    for event in view(service.stack.url, "degradation/history")["events"]
                )

            wait_until(closed, what="the reset")
        finally:
            store.with_name("unmounted").rename(store)
        before = view(service.stack.url, "fallback-cache")["cleared"]
        assert owner.post("/health/fallback-cache/clear").json()["processes_reached"] == 3
        wait_until(lambda: view(service.stack.url, "fallback-cache")["cleared"] == before + 3, what="the clear")
        wait_until(lambda: view(second, "circuit-breaker/blobs")["state"] == "closed", seconds=30, what="the store")


def test_without_the_blob_store(service: Parts, tmp_path: Path) -> None:
    """What is open goes on; nothing is written into the place of a disk that is away."""
    owner, store = service.owner, service.stack.data_dir / "blobs"
    opened, second = (owner.parsed(book(owner, file(tmp_path, name)))["id"] for name in ("opened", "other"))
    new = file(tmp_path, "new")
    formula = {"formula": "=SUM(C2:C3)", "workbook_id": opened}
    sheet = f"/api/v1/workbooks/{opened}/sheets"
    before = owner.get(sheet)
    assert before.status_code == 200
    assert owner.post("/api/v1/calculations/evaluate", json=formula).json()["value"] == 3000
    store.rename(store.with_name("unmounted"))
    store.mkdir()  # the empty place where a disk was mounted
    service.stack.give(store)
    try:
        assert owner.get(sheet).content == before.content
        assert owner.post("/api/v1/calculations/evaluate", json=formula).json()["value"] == 3000
        cells = {"formula": "=SUM(C2:C3)", "workbook_id": second}
        assert owner.post("/api/v1/calculations/evaluate", json=cells).status_code == 503
        for _ in range(2):
            answer = owner.upload(new)
            assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (503, True)
        assert list(store.iterdir()) == [], "nothing is left behind"
        assert owner.get("/api/v1/workbooks").status_code == 200
    finally:
        store.rmdir()
        store.with_name("unmounted").rename(store)
    wait_until(lambda: owner.upload(new).status_code in (201, 409), what="the return")
    assert owner.post("/api/v1/calculations/evaluate", json=cells).json()["value"] == 3000
    assert service.stack.sql("SELECT * FROM dead_letters") == []
