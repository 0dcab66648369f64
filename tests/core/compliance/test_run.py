"""Which tests run and which are skipped, in what order, and what a run says of itself."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from datetime import date

import msgspec
import pytest

from core.compliance.limits import UnknownTest, check_threshold
from core.compliance.result import Results, TestResult, Threshold
from core.compliance.run import UnknownSuite, run_suite
from core.compliance.suites import CATALOGUE
from core.definition import READY, UnknownDefinition
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import UnknownMapping
from core.portfolio.model.notes import DataWarning, Notes
from core.portfolio.model.portfolio import Deal
from core.scenario.simulate import Simulator
from tests.core.compliance.conftest import Build, g1_columns, portfolio_of, reasons


def test_unknown_names_are_refused(g1: Build) -> None:
    """A suite or a test that is not there, an enhanced test in the standard suite."""
    with pytest.raises(UnknownSuite, match="Unknown suite 'strict': there are standard and enhanced"):
        run_suite(g1(), "strict")
    with pytest.raises(UnknownTest, match="Unknown test in suite standard: price_below_80_pct, walrus"):
        run_suite(g1(), test_ids=["wal", "walrus", "price_below_80_pct"])
    assert issubclass(UnknownSuite, ValueError)
    assert issubclass(UnknownTest, ValueError)


def test_chosen_tests_come_in_catalogue_order(g1: Build) -> None:
    """Asked for twice and backwards, once and forwards they run.

    None asked for is all.
    """
    ran = run_suite(g1(), test_ids=["was", "average_rating_factor", "was"])
    assert [result.test_id for result in ran] == ["average_rating_factor", "was"]
    assert run_suite(g1(), test_ids=[]).summary.total == 15
    assert run_suite(g1(), "enhanced").summary.total == 25


def test_fail_fast_stops_after_the_first_failure(g1: Build) -> None:
    """Obligors of 10 % fail at once; the rest is counted as skipped."""
    ran = run_suite(g1(), fail_fast=True)
    assert [(result.test_id, result.status) for result in ran] == [("single_obligor_concentration", "fail")]
    assert ran.summary == type(ran.summary)(total=15, passed=0, failed=1, warnings=0, skipped=14)
    assert set(reasons(ran).values()) == {"not run: an earlier test failed and the run stops at the first failure"}


def test_the_summary_adds_up(g1: Build) -> None:
    """total = passed + failed + warnings + skipped."""
    summary = run_suite(g1(), "enhanced").summary
    assert summary.total == 25 == summary.passed + summary.failed + summary.warnings + summary.skipped
    assert min(summary.passed, summary.failed, summary.skipped) > 0


def test_parallel_changes_nothing(g1: Build) -> None:
    """To the last bit."""
    ran = [run_suite(g1(), "enhanced", parallel=parallel) for parallel in (True, False)]
    assert ran[0] == ran[1]
    assert ran[0].skipped == ran[1].skipped


def test_without_cushion_or_details(g1: Build) -> None:
    """Both are left out of the result and of its message; status and figure stay."""
    bare = run_suite(g1(), include_cushion=False, details=False)
    full = run_suite(g1())
    for item, second in zip(bare, full, strict=True):
        assert (item.cushion, item.cushion_pct, item.details) == (None, None, None)
        assert (item.status, item.current_value) == (second.status, second.current_value)
        assert "cushion" not in item.message


def test_every_result_can_be_written_as_json(g1: Build) -> None:
    """Nothing in a breakdown is a NumPy value or a number that JSON has no word for."""
    for result in run_suite(g1(), "enhanced"):
        text = msgspec.json.encode(result).replace(b'"published":null', b"")
        assert b"null" not in text.replace(b'"warning_threshold":null', b"").replace(b'_pct":null', b""), text


def test_the_catalogue_says_its_defaults() -> None:
    """A default's own warning stands on the right side of it."""
    for test in CATALOGUE:
        check_threshold(test.test_id, test.limit, test.threshold_type, test.warning)


def test_a_run_says_its_day_and_what_to_know_before_trusting_it() -> None:
    warning = DataWarning("as_of_stands_in", "the day of the upload")
    portfolio = portfolio_of(
        g1_columns(), deal=Deal(as_of=20073.0, as_of_source="upload"), notes=Notes(warnings=[warning])
    )
    ran = run_suite(portfolio)
    assert (ran.as_of, ran.as_of_source, ran.warnings) == (date(2024, 12, 16), "upload", [warning])
    assert run_suite(portfolio_of(g1_columns(), deal=Deal(as_of=1e12))).as_of is None


def test_fields_that_are_made_when_read_are_those_of_a_run_that_makes_them_at_once(
    g1: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way a result is read first.

    By a field, as a whole, compared, copied, pickled or encoded.
    """
    portfolio = g1()
    limits = {"wal": Threshold(test_id="wal", threshold_value=9.0)}

    def run() -> Results:
        return run_suite(portfolio, "enhanced", request_thresholds=limits)

    with monkeypatch.context() as at_once:
        at_once.setattr("core.compliance.run.DEFERRED_ROWS_MAX", 0)
        result = run()
    assert result
    assert all(item.details is not None and item.message for item in result)
    assert list(run()) == list(result)
    assert pickle.loads(pickle.dumps(list(run()))) == list(result)
    assert copy.deepcopy(run()[0]) == result[0]
    assert msgspec.json.encode(run()) == msgspec.json.encode(result)
    assert msgspec.json.decode(msgspec.json.encode(run()), type=list[TestResult])[0].message == result[0].message
    assert dataclasses.replace(run()[0], details=None) == dataclasses.replace(result[0], details=None)
    for field in dataclasses.fields(TestResult):
        assert [getattr(item, field.name) for item in run()] == [getattr(item, field.name) for item in result]
    late = run()
    limits.clear()  # the caller's own, and no longer the run's
    assert [item.details for item in late] == [item.details for item in result]
    with pytest.raises(dataclasses.FrozenInstanceError):
        late[0].status = "fail"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="no attribute 'margin'"):
        late[0].margin  # type: ignore[attr-defined]  # noqa: B018


def test_a_definition_and_a_mapping_go_by_their_names() -> None:
    portfolio = portfolio_of(g1_columns())
    for name in READY:
        assert list(run_suite(portfolio, "deal", definition=name)) == list(
            run_suite(portfolio, "deal", definition=READY[name])
        )
        assert Simulator(portfolio, "deal", definition=name).before == run_suite(
            portfolio, "deal", definition=READY[name]
        )
    with pytest.raises(UnknownDefinition, match="did you mean euro"):
        run_suite(portfolio, definition="eruo")
    with pytest.raises(UnknownTest, match=r"Unknown test 'wall'; did you mean wal\?"):
        check_threshold("wall", 5.0)
    book = Workbook(())
    assert Portfolio.from_workbook(book, "standard_servicer").row_count == 0
    with pytest.raises(UnknownMapping, match=r"'standard_cl0'; did you mean standard_clo\? There are: standard_clo,"):
        Portfolio.from_workbook(book, "standard_cl0")
