"""The exposition: all processes of a machine in one answer, and what of them is dead, silent or unread is told."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import get_args

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.app import routes
from service.platform.base.breaker import State
from service.platform.unit.context import Resources, Unit
from service.platform.work.exposition import CALLERS_MOST, Exposition, expose, exposition_of, merge
from tests.conftest import Stack, free_port, register, wait_until
from tests.service.platform.conftest import Apart


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float:
    return samples(text)[name, frozenset(labels.items())]


def test_texts_become_one_with_each_family_once() -> None:
    item = b'# HELP a_total About a\n# TYPE a_total counter\na_total{x="\\n# HELP"} 1.0\n'
    item += b"# HELP b B\n# TYPE b gauge\nb 2.0\n"
    second = b"# HELP b B in other words\n# TYPE b gauge\nb 3.0\n# HELP a_total About a\n# TYPE a_total counter\n"
    text = merge({"api-1": item, "worker-1": second}).decode()
    assert text.count("# TYPE b gauge") == text.count("# HELP b ") == 1
    assert samples(text) == {
        ("a_total", frozenset({("process", "api-1"), ("x", "\n# HELP")})): 1.0,
        ("b", frozenset({("process", "api-1")})): 2.0,
        ("b", frozenset({("process", "worker-1")})): 3.0,
    }


def places(text: str) -> set[str]:
    return {dict(labels)["process"] for name, labels in samples(text) if name == "cushion_process_up"}


def test_processes_answer_together_and_the_port_goes_to_the_next(stack: Stack) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/metrics"
    settings = {"CUSHION_METRICS_PORT": str(port)}
    others = wait_until(
        lambda: "worker-1" in (result := places(httpx.get(stack.url + "/metrics").text)) and result, what="the worker"
    )

    def scraped(kinds: set[str]) -> tuple[str, set[str]] | None:
        """What the port says once processes of these kinds answer besides those of the shared service."""
        try:
            text = httpx.get(url, timeout=10).text
        except httpx.TransportError:
            return None
        result = places(text) - others
        return (text, result) if {item.partition("-")[0] for item in result} == kinds else None

    with stack.another_worker(**settings):
        with stack.another_api(**settings) as api:
            owner = register(api)
            missing = "/api/v1/workbooks/11111111-2222-4333-8444-555555555555"
            assert owner.get(missing).status_code == 404
            assert httpx.get(api + "/nowhere").status_code == 404
            text, result = wait_until(lambda: scraped({"api", "worker"}), what="both processes")
            (process,) = (item for item in result if item.startswith("api"))
            own = httpx.get(api + "/metrics")
            assert own.headers["content-type"].startswith("text/plain; version=0.0.4")
            assert samples(own.text).keys() >= samples(text).keys()
            row = {"method": "GET", "route": "/api/v1/workbooks/{workbook_id}", "status": "4xx", "process": process}
            assert value(text, "cushion_http_request_duration_seconds_count", **row) == 1
            assert value(text, "cushion_http_without_route_total", status="404", process=process) == 1
            assert value(text, "cushion_figures_up", figures="queues") == 1
            told_routes = {dict(labels)["route"] for name, labels in samples(text) if "request_duration" in name}
            assert told_routes <= {route.path for route in routes()}
            for private in (owner.tenant_id, owner.user_id, owner.email, missing, "nowhere", stack.database_url):
                assert private not in text
            assert httpx.get(url.replace("/metrics", "/other")).status_code == 404
        gone, (process,) = wait_until(lambda: scraped({"worker"}), what="the next one on the port")
        assert value(gone, "process_resident_memory_bytes", process=process) > 10_000_000


def test_metrics_are_nobodys_business_unless_a_setting_says_so(stack: Stack) -> None:
    with stack.another_api(CUSHION_METRICS_ON_API="off") as api:
        assert httpx.get(api + "/metrics").status_code == 404


def test_silence_is_told_and_bounded(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sibling that does not answer, one that died, a queue that cannot be read.

    Places are free again afterwards.
    """

    monkeypatch.setattr("service.platform.work.exposition.ANSWER_SECONDS", 0.5)
    monkeypatch.setattr("service.platform.work.exposition.KEPT_SECONDS", 60.0)

    async def main(shared: Resources) -> None:
        (shared.scratch / "metrics-api-99.sock").unlink(missing_ok=True)
        dead, silent = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        dead.bind(str(shared.scratch / "metrics-api-98.sock"))
        dead.close()
        silent.bind(str(shared.scratch / "metrics-api-99.sock"))
        silent.listen()
        async with expose(shared, "worker"):
            exposition = shared.once(exposition_of)
            assert exposition is not None
            breaker = shared.breakers["mail"]
            breaker.fail(breaker.enter(), "NotReached", pause_seconds=60)
            cache = shared.memory.cache("manifests", most=1, bytes_most=100)
            cache.get("one")
            cache.keep("one", "1", 10)
            assert cache.get("one") == cache.get("one") == "1"
            second = Exposition(shared, "worker")
            assert second.place != exposition.place
            second.close()
            await shared.redis.set("cushion:events", "no stream")
            async with asyncio.timeout(3):
                text = (await asyncio.to_thread(exposition.text)).decode()
            assert value(text, "cushion_process_up", process="api-99") == 0
            assert "api-98" not in text
            assert value(text, "cushion_figures_up", figures="events") == 0
            assert value(text, "cushion_figures_up", figures="queues") == 1
            assert "cushion_event_stream_entries" not in text
            me = {"process": exposition.place, "service": "mail"}
            told_states = {arg: value(text, "cushion_breaker_state", **me, state=arg) for arg in get_args(State)}
            assert told_states == {"closed": 0, "open": 1, "half_open": 0}
            assert value(text, "cushion_breaker_opens_total", **me) == 1
            assert value(text, "cushion_breaker_calls_total", **me, outcome="failure") == 1
            read = {"process": exposition.place, "cache": "manifests"}
            assert [value(text, "cushion_cache_reads_total", **read, outcome=item) for item in ("hit", "miss")] == [
                2,
                1,
            ]
            assert await asyncio.to_thread(exposition.text) == text.encode()
        silent.close()
        for place in ("api-98", "api-99"):
            (shared.scratch / f"metrics-{place}.sock").unlink()
        assert not (shared.scratch / f"metrics-{exposition.place}.sock").exists()

    clean.run(main, metrics_on_api=True)


def test_queues_are_told_by_what_is_due(alone: Apart) -> None:
    tenant = alone.tenant()

    async def main(shared: Resources) -> str:
        unit = Unit(shared, tenant, request_id="r")
        await unit.enqueue("note", queue="parse", arguments={})
        await unit.enqueue("note", queue="parse", arguments={}, delay_seconds=60)
        await unit.commit()
        alone.sql("UPDATE jobs SET ready_at = now() - interval '40 seconds' WHERE ready_at < now()")
        async with expose(shared, "worker"):
            exposition = shared.once(exposition_of)
            assert exposition is not None
            return (await asyncio.to_thread(exposition.text)).decode()

    text = alone.run(main, metrics_on_api=True)
    states = {
        state: value(text, "cushion_queue_jobs", queue="parse", state=state) for state in ("due", "later", "running")
    }
    assert states == {"due": 1, "later": 1, "running": 0}
    assert 40 <= value(text, "cushion_queue_oldest_seconds", queue="parse") < 60


def test_who_only_connects_takes_a_few_places_and_no_more(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.platform.work.exposition.CALL_SECONDS", 0.5)
    port = free_port()

    async def main(shared: Resources) -> None:
        async with expose(shared, "worker"):
            await asyncio.to_thread(attack)

    def attack() -> None:
        wait_until(lambda: connects(port), what="the port")
        before = threading.active_count()
        current = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * CALLERS_MOST)]
        wait_until(lambda: all(is_closed(item) for item in current[-CALLERS_MOST:]), what="the excess hung up on")
        assert threading.active_count() <= before + 2 * CALLERS_MOST  # each has a clock
        wait_until(lambda: all(is_closed(item, says=b"G") for item in current), what="the end of who dawdles")
        for item in current:
            item.close()
        wait_until(lambda: httpx.get(f"http://127.0.0.1:{port}/metrics").status_code == 200, what="an answer")

    clean.run(main, metrics_port=port)


def connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def is_closed(item: socket.socket, says: bytes = b"") -> bool:
    item.settimeout(0.1 if not says else 0.01)
    try:
        item.sendall(says)
        return item.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_a_long_path_takes_a_socket(clean: Apart, tmp_path: Path) -> None:
    async def main(shared: Resources) -> None:
        folder = tmp_path / ("long" * 30)
        folder.mkdir()
        named = msgspec.structs.replace(shared, scratch=folder)
        exposition = Exposition(named, "api")
        other_exposition = Exposition(named, "api")
        try:
            assert other_exposition._ask(exposition.place) is not None
        finally:
            exposition.close()
            other_exposition.close()

    clean.run(main)
