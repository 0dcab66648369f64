"""The counters and timers of a process.

Labels are words of the program (a route's template, a job's name, a queue), never a caller's: no tenant, no user, no
path as it was asked for. So there are only so many series, and none tells whose they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
disable_created_metrics()  # type: ignore[no-untyped-call]  # a restart shows in process_start_time_seconds

QUICK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of what a caller waits for, in seconds."""
LONG: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""Bounds of what goes on in the background."""

KERNELS_MOST: Final = 300
"""Functions with a name of their own; every further one is `other`."""


def _seconds(name: str, meaning: str, labels: tuple[str, ...] = (), bounds: tuple[float, ...] = QUICK) -> Histogram:
    return Histogram(f"cushion_{name}_seconds", meaning, labels, registry=REGISTRY, buckets=bounds)


def _gauge(name: str, meaning: str, labels: tuple[str, ...] = ()) -> Gauge:
    return Gauge(f"cushion_{name}", meaning, labels, registry=REGISTRY)


def _count(name: str, meaning: str, labels: tuple[str, ...] = ()) -> Counter:
    return Counter(f"cushion_{name}_total", meaning, labels, registry=REGISTRY)


# Requests -------------------------------------------------------------------------------------------------------------

REQUEST_SECONDS: Final = _seconds(
    "http_request_duration",
    "From a request's head to its answer's end, by the route's template; status `left`: its caller went first",
    ("method", "route", "status"),
)
WITHOUT_ROUTE: Final = _count("http_without_route", "Requests that were refused before they had a route", ("status",))

REQUESTS_IN_FLIGHT: Final = _gauge("http_requests_in_flight", "Requests that are under way")

# Kernels, and the threads that they run in ----------------------------------------------------------------------------

THREADS: Final = _gauge("threads_in_use", "Threads of a pool that work", ("pool",))
THREADS_WAITING: Final = _gauge("threads_waiting", "Work that waits for a thread of a pool", ("pool",))
THREAD_WAIT_SECONDS: Final = _seconds("thread_wait", "Wait for a thread of a pool", ("pool",))
KERNEL_SECONDS: Final = _seconds(
    "kernel_duration", "Time of a function in a pool's thread, or in the event loop", ("pool", "kernel")
)

# PostgreSQL and Redis -------------------------------------------------------------------------------------------------

DATABASE_CONNECTIONS: Final = _gauge(
    "database_connections", "Connections to PostgreSQL; state in_use or idle", ("state",)
)
DATABASE_WAITING: Final = _gauge("database_waiting", "Units of work that wait for one of their tenant's share")
DATABASE_WAIT_SECONDS: Final = _seconds("database_wait", "Wait for a connection to PostgreSQL")
DATABASE_SECONDS: Final = _seconds("database_transaction_duration", "Time of a transaction, its wait apart")
REDIS_SECONDS: Final = _seconds("redis_round_trip_duration", "Time of a shared round trip to Redis")

# Background work ------------------------------------------------------------------------------------------------------

JOB_SECONDS: Final = _seconds(
    "job_duration",
    "Time of a run of a job; outcome completed, failed, returned (its worker stopped) or lost (another worker has it)",
    ("job_name", "outcome"),  # `job` is Prometheus's own
    LONG,
)
JOB_WAIT_SECONDS: Final = _seconds("job_wait", "From when a job was due until a worker took it", ("queue",), LONG)
JOBS_LOST: Final = _count("jobs_lost", "Runs that fell silent and went back to the queue", ("queue",))
DEAD_LETTERS: Final = _count("dead_letters", "Jobs that were given up", ("job_name",))

# Outwards -------------------------------------------------------------------------------------------------------------

MAILS: Final = _count("mails", "Letters; outcome sent, written (into the data folder) or failed", ("outcome",))
WEBHOOK_ATTEMPTS: Final = _count("webhook_attempts", "Requests to webhooks; outcome success or failure", ("outcome",))
ALERT_ATTEMPTS: Final = _count(
    "alert_attempts", "Deliveries of alerts that were tried; outcome success or failure", ("channel", "outcome")
)

for _outcome in ("sent", "written", "failed"):  # 0 is told, too: else the first one's increase would not show
    MAILS.labels(_outcome)
for _outcome in ("success", "failure"):
    WEBHOOK_ATTEMPTS.labels(_outcome)

_kernels: set[str] = set()


def kernel_of(function: Callable[..., Any]) -> str:
    """Return the name of a function for its timer: its module and its own name."""
    while (inner := getattr(function, "__wrapped__", None) or getattr(function, "func", None)) is not None:
        function = inner  # what a wrapper or a partial runs
    module = str(getattr(function, "__module__", None) or "builtins")
    own = str(getattr(function, "__qualname__", type(function).__name__)).replace(".<locals>", "")
    name = f"{module.removeprefix('service.').removeprefix('core.')}.{own}"
    if name not in _kernels:
        if len(_kernels) >= KERNELS_MOST:
            return "other"
        _kernels.add(name)
    return name
