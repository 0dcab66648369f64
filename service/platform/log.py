"""Structured logs: one JSON line an event, with the request's identifier, and never a secret."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import orjson
import structlog

SECRET_NAMES = re.compile(r"password|token|secret|authorization|api_key$|cookie|_key$", re.IGNORECASE)
SECRET_VALUES = re.compile(
    r"svc_(live|test)_[\w-]{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)|(?<=password=)[^&\s'\"]+"
)


def redact(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cover what is named like a secret, or looks like one, before a line is written."""
    for name, value in event.items():
        if SECRET_NAMES.search(name):
            event[name] = "***"
        elif isinstance(value, str):
            event[name] = SECRET_VALUES.sub("***", value)
    return event


def configure(level: str = "info") -> None:
    """Send everything, the standard library's loggers included, to standard error as JSON lines."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    severity = getattr(logging, level.upper())
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(serializer=_dump)],
        wrapper_class=structlog.make_filtering_bound_logger(severity),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(serializer=_dump),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(severity, logging.WARNING))


def _dump(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str).decode()
