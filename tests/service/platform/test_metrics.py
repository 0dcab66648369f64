"""Metrics: names as Prometheus has them, labels that are words of the program, each told under one name."""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

from prometheus_client import Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from service.platform import metrics
from service.platform.base.compute import at_once
from tests.rows import every

UNITS = ("_seconds", "_bytes", "_total")
AMOUNTS = {
    *("cushion_http_requests_in_flight", "cushion_threads_in_use", "cushion_threads_waiting"),
    *("cushion_database_connections", "cushion_database_waiting", "cushion_breaker_state"),
}
"""Numbers of things, and of a state."""


def families() -> dict[str, Any]:
    return {
        family.name: family for family in text_string_to_metric_families(generate_latest(metrics.REGISTRY).decode())
    }


def test_names_are_prometheus_and_say_their_unit() -> None:
    for name, family in families().items():
        if name.startswith("process_"):
            continue
        assert name.startswith("cushion_"), name
        answer = f"{name}_total" if family.type == "counter" else name
        assert answer.endswith(UNITS) or answer in AMOUNTS, answer
        assert family.documentation.rstrip(".") == family.documentation != "", name
        assert (family.type == "counter") == answer.endswith("_total"), name
    assert len(families()) > 15


def test_no_label_could_hold_what_is_a_callers() -> None:
    permitted = {"method", "route", "status", "state", "pool", "kernel", "job_name", "outcome", "queue", "channel"}
    for item in vars(metrics).values():
        assert set(getattr(item, "_labelnames", ())) <= permitted, item


def kernel(*_: Any) -> None:
    """A function that a thread could run."""


@wraps(kernel)
def wrapped(*_: Any) -> None:
    kernel()


OWN = "test_metrics.kernel"


@every(
    "function, name",
    [
        (kernel, OWN),
        (wrapped, OWN),
        (partial(partial(wrapped, 1), 2), OWN),
        (len, "builtins.len"),
        (b"".join, "builtins.bytes.join"),
        (Histogram.observe, "prometheus_client.metrics.Histogram.observe"),
    ],
)
def test_a_kernel_is_told_by_the_name_of_what_runs(function: Any, name: str) -> None:
    assert metrics.kernel_of(function).endswith(name)


def test_a_kernel_of_the_event_loop_is_timed_too() -> None:
    at_once(kernel, 1)
    actual_labels = [sample.labels for sample in families()["cushion_kernel_duration_seconds"].samples]
    assert any(labels["pool"] == "event_loop" and labels["kernel"].endswith(OWN) for labels in actual_labels)


def test_kernels_are_not_told_apart_without_end(monkeypatch: Any) -> None:
    monkeypatch.setattr(metrics, "KERNELS_MOST", len(metrics._kernels) + 1)

    def each() -> None: ...

    def another() -> None: ...

    assert metrics.kernel_of(each).endswith(".each")
    assert [metrics.kernel_of(each)[-4:], metrics.kernel_of(another)] == ["each", "other"]
