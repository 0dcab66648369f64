"""Traces: one from a request over its transactions to its job, as a collector reads it, and nobody's data in it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import xlsxwriter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from service.platform import config, tracing
from service.platform.config import ConfigError, Settings
from service.platform.tracing import check_tracing
from tests.conftest import Stack, register, serving, wait_until
from tests.rows import every

GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Collector(ThreadingHTTPServer):
    """Takes spans by OTLP over HTTP, as OpenTelemetry's own messages."""

    daemon_threads = True

    def __init__(self) -> None:
        self.received: list[tuple[str, ExportTraceServiceRequest]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def spans(self) -> list[dict[str, Any]]:
        """What came: names, identifiers as hex, attributes, and which process sent it."""
        return [
            {
                "name": span.name,
                "trace": span.trace_id.hex(),
                "id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "seconds": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                "failed": span.status.code == 2,
                "process": next(
                    attribute.value.string_value
                    for attribute in resource_span.resource.attributes
                    if attribute.key == "cushion.process"
                ),
                **{
                    attribute.key: attribute.value.string_value or attribute.value.int_value
                    for attribute in span.attributes
                },
            }
            for _, request in self.received
            for resource_span in request.resource_spans
            for scope in resource_span.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def test_a_trace_goes_from_the_upload_to_its_job(idle: Stack, tmp_path: Path) -> None:
    file = tmp_path / "very private name.xlsx"
    with xlsxwriter.Workbook(file) as new_workbook:
        new_workbook.add_worksheet().write_row("A1", ["SECRETLOAN", 1000])
    with serving(Collector()) as collector:
        settings = {
            "CUSHION_OTLP_URL": f"http://127.0.0.1:{collector.server_address[1]}/",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with idle.another_api(**settings) as api, idle.another_worker(**settings):
            owner = register(api)
            sent = {"traceparent": GIVEN, "x-request-id": "upload-1", "tracestate": "a=private"}
            owner.http.headers.update(sent)
            workbook = owner.uploaded(file)
            body = {"formula": "=PRIVATE+1", "context": {"A1": 5}}
            owner.post("/api/v1/calculations/evaluate", json=body, headers={"traceparent": "00-zz"})

            def whole() -> list[dict[str, Any]]:
                spans = collector.spans()
                names = {span["name"] for span in spans}
                wanted = {"POST /api/v1/workbooks/upload", "job workbooks.parse", "POST /api/v1/calculations/evaluate"}
                return spans if wanted <= names else []

            spans = wait_until(whole, seconds=60, what="the spans")
        answer = repr(spans)
    by_name = {span["name"]: span for span in spans}
    upload, job = by_name["POST /api/v1/workbooks/upload"], by_name["job workbooks.parse"]
    _, trace, parent, _ = GIVEN.split("-")
    assert (upload["trace"], upload["parent"], upload["process"]) == (trace, parent, "api")
    assert (upload["http.route"], upload["http.request.method"]) == ("/api/v1/workbooks/upload", "POST")
    assert (upload["http.response.status_code"], upload["cushion.request_id"]) == (201, "upload-1")
    assert (job["trace"], job["parent"], job["process"]) == (trace, upload["id"], "worker")
    assert (job["cushion.queue"], job["cushion.attempt"], job["failed"]) == ("parse", 1, False)
    for system, work in (
        ("redis EVALSHA", upload),
        ("postgresql transaction", upload),
        ("postgresql transaction", job),
    ):
        steps = [span for span in spans if span["name"] == system and span["parent"] == work["id"]]
        assert steps, (system, work["name"])
        assert all(span["seconds"] <= work["seconds"] and span["trace"] == trace for span in steps)
    evaluate = by_name["POST /api/v1/calculations/evaluate"]
    assert (evaluate["parent"], evaluate["trace"] != trace) == ("", True)
    for private in (
        owner.tenant_id,
        owner.user_id,
        owner.email,
        workbook["id"],
        "very private",
        "SECRETLOAN",
        "PRIVATE",
    ):
        assert private not in answer
    assert {path for path, _ in collector.received} == {"/v1/traces"}


@every(
    "header, is_taken",
    [
        (GIVEN, True),
        (GIVEN[:-2] + "00", True),
        (GIVEN.upper(), False),
        (GIVEN + "-more", False),
        (GIVEN + "\n", False),
        ("01" + GIVEN[2:], False),
        ("ff" + GIVEN[2:], False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01", False),
        ("", False),
        ("x" * 100_000, False),
        (None, False),
    ],
)
def test_a_strangers_trace_is_taken_up_only_as_the_standard_has_it(header: str | None, is_taken: bool) -> None:
    assert (tracing._remote(header) is not None) == is_taken


@every("url", ["collector:4318", "http://", "http://a b", "ftp://collector", "http://collector?q=1"])
def test_what_is_no_collector_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ConfigError, match="CUSHION_OTLP_URL"):
        check_tracing(config.load({"CUSHION_OTLP_URL": url}))
    check_tracing(Settings())


def test_nothing_is_traced_without_the_setting(stack: Stack) -> None:
    assert not tracing.is_on()
    assert tracing.traceparent() is None
    with tracing.step("redis", "redis"), tracing.job("note", "parse", "task", 1, GIVEN):
        assert tracing.traceparent() is None
    assert httpx.get(stack.url + "/health/live", headers={"traceparent": GIVEN}).status_code == 200


def test_of_a_collector_that_takes_nothing_the_log_says_little(caplog: pytest.LogCaptureFixture) -> None:
    class Refusing(_Handler):
        def do_POST(self) -> None:
            self.send_error(404)

    with serving(Collector()) as collector:
        collector.RequestHandlerClass = Refusing
        settings = Settings(otlp_url=f"http://127.0.0.1:{collector.server_port}")
        provider = tracing._provider(settings, "1", "api")
        for _ in range(3):
            provider.get_tracer("test").start_span("one").end()
            provider.force_flush()
        provider.shutdown()
    assert [record.levelname for record in caplog.records if "404" in record.getMessage()] == ["ERROR"]
