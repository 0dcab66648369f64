"""Functions of ours in confined children.

What arrives, what comes back, and what does not.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
import structlog

from core.compliance.run import run_suite
from core.confined.run import ChildFailed
from core.definition import READY, parse
from core.generate import generate
from core.portfolio import Portfolio
from service.compliance.child import Ran, SuiteLacksTest, parse_definition, run
from service.mappings.child import try_sample
from service.mappings.schema import MappingTooSlow, Sample
from service.mappings.shared import BUILT_IN
from service.platform.base.problem import ValidationFailed
from service.platform.http.bodies import Unread
from service.processes import shared
from service.processes.child import Call, WorkDone, _call_of, order_of
from service.processes.shared import GRACE_SECONDS, POOL, Calculators, OutOfMemory, OutOfTime, start_calculators

MEGABYTE = 1024 * 1024
OWN = {"tests": [{"id": "any", "name": "Any", "share": '=ISNUMBER(SEARCH("a",borrower_name))', "max": 100.0}]}


@pytest.fixture(scope="module")
def calculators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calculators]:
    blobs = tmp_path_factory.mktemp("blobs")
    pool = Calculators(processes=1, queue=4, memory_bytes_max=512 * MEGABYTE, blobs=blobs)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def portfolio() -> Portfolio:
    deal = generate(300, seed=1)
    return Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)


def call(pool: Calculators, function: Callable[..., Any], *args: Any, seconds: float = 30.0) -> Any:
    return pool.call(Call(function, args, {}, seconds))


def test_a_run_in_a_child_is_the_run(calculators: Calculators, portfolio: Portfolio) -> None:
    rules = {"definition": parse({"base": "us_bsl"} | OWN)}
    ran = call(calculators, run, portfolio, "deal", rules, {"details": True})
    assert isinstance(ran, Ran)
    results, expected = ran.as_results(), run_suite(portfolio, "deal", **rules)
    assert msgspec.json.encode(results) == msgspec.json.encode(expected)
    assert (results.as_of, results.skipped, results.warnings) == (
        expected.as_of, expected.skipped, expected.warnings,
    )  # fmt: skip
    assert results.figures == expected.figures
    assert isinstance(call(calculators, run, portfolio, "deal", rules, {"test_ids": ["none"]}), SuiteLacksTest)


def test_a_portfolio_arrives_as_it_is_and_may_be_changed(portfolio: Portfolio) -> None:
    order = b"".join(order_of(Call(run, (portfolio,), {}, 1.0)))
    (arrived,) = _call_of(order).args
    assert arrived.numbers.keys() == portfolio.numbers.keys()
    for name, values in portfolio.numbers.items():
        np.testing.assert_array_equal(arrived.numbers[name], values)
        assert arrived.numbers[name].flags.writeable
        assert arrived.numbers[name].flags.aligned


@pytest.mark.parametrize("name", READY)
def test_a_definition_comes_back_as_it_is(calculators: Calculators, name: str) -> None:
    steps = [{"from": "2027-01-15", "limit": 8.0}, {"from": "reinvestment_end", "limit": 9.0}]
    test = {"id": "stepped", "name": "Stepped", "measure": "ccc", "max": 7.5, "steps": steps}
    document = {"base": name, "conventions": {"reinvestment_end": "2028-07-15"}, "tests": [test]}
    assert call(calculators, parse_definition, document).definition == parse(document)
    faults = call(calculators, parse_definition, {"tests": [{"id": 1}]}).faults
    assert faults
    assert all(place and message for place, message in faults)


def test_a_refusal_of_the_function_is_the_caller_s(calculators: Calculators) -> None:
    mapping = BUILT_IN["standard_clo"].mapping
    with pytest.raises(ValidationFailed) as refused:
        call(calculators, try_sample, mapping, Unread(b'{"sample_data":[1]}'), [], 5.0)
    assert refused.value.errors[0].loc == ["body", "sample_data", "0"]
    with pytest.raises(MappingTooSlow):
        call(calculators, try_sample, mapping, Sample(sample_data=[{"Borrower": "x"}] * 1_000), [], 0.0)


def test_only_our_refusals_are_believed(calculators: Calculators, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that was taken over may name anything.

    Nothing is loaded or called because of it.
    """
    for name in ("os.system", "service.host.backup.restore", "builtins.SystemExit"):
        answer = msgspec.msgpack.encode(WorkDone(refused=(name, [])))
        monkeypatch.setattr(calculators, "ask", lambda *_, answer=answer: answer)
        with pytest.raises(ChildFailed, match="unknown refusal"):
            call(calculators, parse_definition, {})


def test_what_is_of_another_type_is_no_answer(calculators: Calculators, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = msgspec.msgpack.encode(WorkDone(answer=msgspec.msgpack.encode({"definition": 1})))
    monkeypatch.setattr(calculators, "ask", lambda *_: answer)
    with pytest.raises(ChildFailed):
        call(calculators, parse_definition, {})


def test_time_is_looked_at_in_the_work_and_from_outside(calculators: Calculators, portfolio: Portfolio) -> None:
    with pytest.raises(OutOfTime):
        call(calculators, run, portfolio, "deal", {"definition": parse(OWN)}, {}, seconds=1e-9)
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        call(calculators, time.sleep, 60.0, seconds=0.1)
    assert time.monotonic() - began < GRACE_SECONDS + 20
    assert call(calculators, parse_definition, OWN).definition == parse(OWN), "another child has taken its place"


def test_memory_is_limited(calculators: Calculators) -> None:
    with pytest.raises(OutOfMemory):
        call(calculators, bytes, 2048 * MEGABYTE)


def test_a_crash_tells_its_place_and_quotes_nothing(calculators: Calculators) -> None:
    with pytest.raises(ChildFailed, match="ValueError") as crashed:
        call(calculators, int, "a secret of the file")
    assert "secret" not in str(crashed.value)


def test_a_child_reads_no_secret_and_reaches_nobody(calculators: Calculators, tmp_path: Path) -> None:
    secret = tmp_path / "secret_key"
    secret.write_text("x")
    for function, args in (
        (os.listdir, [str(tmp_path)]),
        (secret.read_text, []),
        (os.kill, [os.getpid(), 0]),
        (os.fork, []),
    ):
        with pytest.raises(ChildFailed, match="PermissionError"):
            call(calculators, function, *args)


def test_a_calculator_that_cannot_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By readiness, which the fault is for, and with what the child said in the log.

    Until one starts.
    """
    faults: dict[str, str] = {}
    pool = Calculators(processes=1, queue=4, memory_bytes_max=512 * MEGABYTE, blobs=tmp_path, faults=faults)
    try:
        monkeypatch.setattr(pool, "_program", "service.processes.nothing.Calculating")
        monkeypatch.setattr(shared, "log", structlog.get_logger())  # one that was used before keeps where it writes
        with structlog.testing.capture_logs() as lines, pytest.raises(ChildFailed):
            call(pool, parse_definition, {})
        assert faults == {POOL: "no child starts: ChildFailed"}
        (line,) = lines
        assert (line["event"], line["log_level"], line["error"]) == ("child.start_failed", "error", "ChildFailed")
        assert "No module named 'service.processes.nothing'" in line["stderr"]
        monkeypatch.undo()
        asyncio.run(pool.start())
        assert faults == {}
    finally:
        pool.close()


def test_calculators_that_do_not_start_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing calls them, too: a process that is not ready is sent no requests."""
    monkeypatch.setattr(shared, "SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(shared, "AGAIN_SECONDS", 0.01)
    faults, tried = {POOL: "no child starts"}, asyncio.Event()

    class Failing:
        """Calculators that start the third time."""

        times = 0

        async def start(self) -> None:
            self.times += 1
            if self.times < 3:
                raise ChildFailed("ended with code 1")
            faults.clear()
            tried.set()

    async def run_until_started() -> int:
        failing = Failing()
        resources = SimpleNamespace(faults=faults, once=lambda _make: failing)
        task = asyncio.create_task(start_calculators(resources))  # type: ignore[arg-type]
        await asyncio.wait_for(tried.wait(), 10)
        await asyncio.sleep(0.1)
        task.cancel()
        return failing.times

    assert asyncio.run(run_until_started()) == 3
