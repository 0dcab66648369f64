"""`pytest bench`: the suite under pytest-benchmark, its options, the machine, and the table at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from bench import machine
from bench.floors import shares
from bench.questions import OURS
from bench.rows import Suite, row_details, time_text

SUITE = pytest.StashKey[Suite]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="ask the quick questions alone")
    parser.addoption("--record", action="store_true", help="add this run to bench/floors.json")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.name == "bench_floors")
    if config.getoption("--quick"):
        callspecs = {item: getattr(item, "callspec", None) for item in items}
        slow = [item for item, spec in callspecs.items() if spec and not spec.params["question"].quick]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    machine_info["cushion"] = machine.described()


@pytest.fixture(scope="session")
def suite(request: pytest.FixtureRequest) -> Iterator[Suite]:
    """The questions that are asked in this session."""
    new_suite = request.config.stash[SUITE] = Suite()
    yield new_suite
    new_suite.close()


def pytest_terminal_summary(config: pytest.Config) -> None:
    if (suite := config.stash.get(SUITE, None)) is None:
        return
    table = Table(title="medians of one run")
    for name in ("question", "ours", "best peer", "its time", "ratio", "of the limit", "target", "met", "of its floor"):
        table.add_column(name, justify="left" if name in ("question", "best peer") else "right")
    for question, measured in suite.lines():
        row = row_details(question, OURS, measured)
        floor = shares(suite.floors, question.name, measured)
        table.add_row(
            question.name,
            time_text(row["seconds"]),
            row["best_peer"] or "",
            time_text(measured.seconds(row["best_peer"])) if row["best_peer"] else "",
            f"{row['ratio']:.2f}x" if row["best_peer"] else "",
            f"{row['limit_ratio']:.1%}" if row["limit_ratio"] is not None else "",
            row["target"] or "none",
            {True: "yes", False: f"NO: {row['missed']}", None: ""}[row["met"]],
            f"{min(floor.values()):.0%}" if floor else "",
        )
    Console(width=None if sys.stdout.isatty() else 180).print(table)
