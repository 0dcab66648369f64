"""Traces by OpenTelemetry, where a setting names a collector.

A request, what it asks of servers, its jobs.

A span holds words of the program (a route's template, a job's name), a status and identifiers of requests and jobs: no
tenant, no user, nothing of a body. Without the setting nothing of OpenTelemetry is imported. Nobody outside is sent a
trace's identifier.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from service.platform.config import ConfigError, Settings
from service.platform.log import SECRET_VALUES

if TYPE_CHECKING:
    from opentelemetry.context import Context as TraceContext
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

TRACES_PATH: Final = "/v1/traces"
SPANS_WAITING_MOST: Final = 4_096
"""That wait for the collector; what comes while there are so many is dropped."""
EXPORT_SECONDS: Final = 10
FLUSH_SECONDS: Final = 5.0
"""At the end of a process."""
COMPLAINT_SECONDS: Final = 60.0
"""Between two lines of the log about a collector that takes nothing; it would be one for each 512 spans."""
_TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")

_tracer: Tracer | None = None
"""Of this process; None where nobody wants traces."""


def check_tracing(settings: Settings) -> None:
    """Check that traces could be sent by these settings.

    Raises:
        ConfigError: the address is none, or the packages are not there.
    """
    if settings.otlp_url is None:
        return
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", settings.otlp_url):  # not shown: it may hold a password
        raise ConfigError("CUSHION_OTLP_URL cannot be used: expected http://collector.example.com:4318")
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.trace  # noqa: F401
    except ImportError:
        raise ConfigError("CUSHION_OTLP_URL needs packages that are not there: pip install 'cushion[otel]'") from None


@asynccontextmanager
async def trace_process(settings: Settings, version: str, kind: str) -> AsyncIterator[None]:
    """Make spans while the context is open, where a setting names a collector."""
    global _tracer
    if settings.otlp_url is None:
        yield
        return
    provider = _provider(settings, version, kind)
    _tracer = provider.get_tracer("cushion", version)
    try:
        yield
    finally:
        _tracer = None
        # Of its own and a daemon: a collector that is away holds up no end.
        flushing = threading.Thread(target=provider.shutdown, name="tracing", daemon=True)
        flushing.start()
        await asyncio.to_thread(flushing.join, FLUSH_SECONDS)


def _provider(settings: Settings, version: str, kind: str) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    assert settings.otlp_url is not None
    share = TraceIdRatioBased(settings.trace_share)
    # Whether a trace is kept is ours to say: a stranger's flag would fill the collector, or hide from it.
    sampler = ParentBased(root=share, remote_parent_sampled=share, remote_parent_not_sampled=share)
    attributes = {"service.name": "cushion", "service.version": version, "cushion.process": kind}
    provider = TracerProvider(sampler=sampler, resource=Resource.create(attributes), shutdown_on_exit=False)
    url = settings.otlp_url.rstrip("/").removesuffix(TRACES_PATH) + TRACES_PATH
    exporter = OTLPSpanExporter(endpoint=url, timeout=EXPORT_SECONDS)
    logging.getLogger(OTLPSpanExporter.__module__).addFilter(_Seldom())
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=SPANS_WAITING_MOST))
    return provider


class _Seldom(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + COMPLAINT_SECONDS
        return True


def is_on() -> bool:
    """Return whether this process makes spans."""
    return _tracer is not None


@contextmanager
def request(method: str, route: str, traceparent: bytes | None) -> Iterator[None]:
    """Open a span for a request, in its caller's trace; `end_request` ends it."""
    from opentelemetry.trace import SpanKind

    attributes = {"http.request.method": method, "http.route": route}
    parent = _remote(traceparent.decode("latin-1") if traceparent else None)
    with _open_span(f"{method} {route}", SpanKind.SERVER, attributes, parent):
        yield


def end_request(status: int, request_id: str) -> None:
    """End the span of the present request: its answer is out."""
    if _tracer is None:
        return
    from opentelemetry.trace import StatusCode, get_current_span

    span = get_current_span()
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("cushion.request_id", SECRET_VALUES.sub("***", request_id))
    if status >= 500:
        span.set_status(StatusCode.ERROR)
    span.end()


@contextmanager
def job(name: str, queue: str, job_id: str, attempt: int, traceparent: str | None) -> Iterator[None]:
    """Open a span for a run of a job, in the trace of what asked for it."""
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import SpanKind

    attributes = {"cushion.job": name, "cushion.queue": queue, "cushion.job_id": job_id, "cushion.attempt": attempt}
    with _open_span(f"job {name}", SpanKind.CONSUMER, attributes, _remote(traceparent)):
        yield


@contextmanager
def step(name: str, system: str) -> Iterator[None]:
    """Open a span for a call of another server."""
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import SpanKind, get_current_span

    if not get_current_span().get_span_context().is_valid:  # what a process does by itself
        yield
        return
    span = _tracer.start_span(name, kind=SpanKind.CLIENT, attributes={"db.system.name": system})
    with _end_span(span):
        yield


def traceparent() -> str | None:
    """Return the present span, as W3C Trace Context writes it, or None."""
    if _tracer is None:
        return None
    from opentelemetry.trace import get_current_span

    now = get_current_span().get_span_context()
    return f"00-{now.trace_id:032x}-{now.span_id:016x}-{int(now.trace_flags):02x}" if now.is_valid else None


@contextmanager
def _open_span(name: str, kind: Any, attributes: dict[str, Any], parent: TraceContext | None) -> Iterator[None]:
    from opentelemetry import context
    from opentelemetry.trace import set_span_in_context

    assert _tracer is not None
    # An empty context rather than the present one, which may be that of the task's creator.
    span = _tracer.start_span(name, context=parent or context.Context(), kind=kind, attributes=attributes)
    token = context.attach(set_span_in_context(span))
    try:
        with _end_span(span):
            yield
    finally:
        context.detach(token)


@contextmanager
def _end_span(span: Span) -> Iterator[None]:
    """End a span, with an error's class only: its message may be personal."""
    try:
        yield
    except BaseException as error:
        if span.is_recording():
            from opentelemetry.trace import StatusCode

            span.set_status(StatusCode.ERROR, type(error).__name__)
        raise
    finally:
        if span.is_recording():
            span.end()


def _remote(traceparent: str | None) -> TraceContext | None:
    """Return the span of a caller or of a job's writer.

    Anything but version 00 of the standard is ignored, and so is a tracestate.
    """
    match = _TRACEPARENT.fullmatch(traceparent or "")
    if match is None:
        return None
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    parent = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags & 1))
    return set_span_in_context(NonRecordingSpan(parent), Context())
