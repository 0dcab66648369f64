"""A verdict says what the figures say.

Compared, for how long, changed by how much; and nothing of what is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from core.alerts.conditions import conditions_of
from core.alerts.evaluate import AlertReading, AlertVerdict, RunPoint, history_of, is_covered, judge
from core.compliance.result import Doubt, PublishedFigure, Skipped, Status, TestResult
from core.compliance.run import STOPPED
from core.definition import parse
from tests.rows import every

NOW = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
TODAY = NOW.date()


def result(
    test_id: str, value: float, *, status: Status = "pass", cushion: float | None = 1.0, **more: Any
) -> TestResult:
    input_value: dict[str, Any] = {
        "test_id": test_id, "test_name": test_id.upper(), "category": "coverage", "status": status,
        "current_value": value, "threshold_value": 5.0, "threshold_type": "max", "cushion": cushion,
        "cushion_pct": None, "message": f"{test_id} says so", **more,
    }  # fmt: skip
    return TestResult(**input_value)


def reading(*results: TestResult, skipped: tuple[str, ...] = (), **more: Any) -> AlertReading:
    left = [Skipped(test_id, test_id, "no column") for test_id in skipped]
    return AlertReading(**{"at": NOW, "day": TODAY, "suite": "standard", "results": results, "skipped": left, **more})


def asked(kind: str, now: datetime = NOW, *, of: AlertReading, history: Any = (), **conditions: Any) -> AlertVerdict:
    return judge(conditions_of(kind, conditions), of, [RunPoint(*item) for item in history], now)


@every(
    "operator, value, holds",
    [
        ("gt", 7.5, False), ("gt", 7.499999, True), ("gte", 7.5, True), ("gte", 7.500001, False),
        ("lt", 7.5, False), ("lt", 7.500001, True), ("lte", 7.5, True), ("lte", 7.499999, False),
        ("eq", 7.5, True), ("eq", 7.5 + 4e-7, True), ("eq", 7.50001, False),
        ("ne", 7.5, False), ("ne", 7.5 - 4e-7, False), ("ne", 7.49999, True),
    ],
)  # fmt: skip
def test_a_figure_is_compared(operator: str, value: float, holds: bool) -> None:
    outcome = asked("threshold", of=reading(result("wal", 7.5)), metric="wal", operator=operator, value=value)
    assert (outcome.holds, outcome.metric_value) == (holds, 7.5)
    stated = {"metric": "wal", "current_value": 7.5, "threshold_value": value, "operator": operator}
    assert stated.items() <= outcome.details.items()


def test_a_sentence_shows_what_was_compared() -> None:
    outcome = asked(
        "threshold", of=reading(result("ccc_bucket_pct", 7.8)), metric="ccc_bucket_pct", operator="gt", value=7.5
    )
    assert outcome.sentence == "CCC_BUCKET_PCT is 7.80 %, above 7.50 %"
    near = asked("threshold", of=reading(result("wal", 5.000001)), metric="wal", operator="gte", value=5)
    assert near.sentence == "WAL is 5.000001 years, at or above 5.000000 years"


@every(
    "of, message",
    [
        (reading(skipped=("wal",)), "wal was skipped: no column"),
        (reading(result("was", 3)), "no test that is the metric wal"),
        (reading(result("wal", float("nan"))), "no finite figure"),
        (reading(result("wal", float("inf"))), "no finite figure"),
        (reading(result("wal", 5, low=4.0, high=6.0)), "between 4.00 years and 6.00 years"),
    ],
)
def test_what_is_unknown_fires_nothing(of: AlertReading, message: str) -> None:
    for operator in ("gt", "lte"):
        outcome = asked("threshold", of=of, metric="wal", operator=operator, value=5)
        assert outcome.holds is None
        assert message in outcome.sentence
    trend = {"metric": "wal", "direction": "either", "change_threshold": 0.1, "lookback_days": 9}
    if of.results and of.results[0].low is UNSET:
        assert asked("trend", of=of, history=[(NOW - timedelta(days=9), TODAY, 0.0)], **trend).holds is None


def test_a_range_on_one_side_is_no_doubt() -> None:
    masked = reading(result("wal", 5.5, low=5.2, high=6.0))
    assert asked("threshold", of=masked, metric="wal", operator="gt", value=5).holds is True
    assert asked("threshold", of=masked, metric="wal", operator="lt", value=5).holds is False


# How long -------------------------------------------------------------------------------------------------------------


@st.composite
def runs(draw: st.DrawFn) -> list[tuple[int, float]]:
    """Earlier runs: minutes before now, and whether the figure is above 5."""
    minutes = draw(st.lists(st.integers(1, 300), max_size=8, unique=True))
    return [(minute, draw(st.sampled_from([4.0, 6.0]))) for minute in sorted(minutes, reverse=True)]


@given(earlier=runs(), duration=st.integers(0, 320), waited=st.integers(0, 60))
def test_how_long_is_told_by_the_minute(earlier: list[tuple[int, float]], duration: int, waited: int) -> None:
    """Minute by minute: a figure stands until another run says otherwise."""
    now = NOW + timedelta(minutes=waited)
    history = [(NOW - timedelta(minutes=ago), TODAY, value) for ago, value in earlier]
    outcome = asked(
        "threshold", now, of=reading(result("wal", 6)), history=history,
        metric="wal", operator="gt", value=5, duration_minutes=duration,
    )  # fmt: skip
    stood = {-minute: 6.0 for minute in range(waited + 1)}
    known = dict(earlier) | {0: 6.0}
    value: float | None = None
    for minute in range(300, -1, -1):
        value = known.get(minute, value)
        if value is not None:
            stood[minute] = value
    long_enough = all(stood.get(minute) == 6.0 for minute in range(-waited, duration - waited + 1))
    assert outcome.holds is long_enough
    assert (outcome.due_at is None) is long_enough
    if outcome.due_at is not None:
        later = asked(
            "threshold", outcome.due_at, of=reading(result("wal", 6)), history=history,
            metric="wal", operator="gt", value=5, duration_minutes=duration,
        )  # fmt: skip
        assert outcome.due_at > now
        assert later.holds is True


def test_only_the_newest_month_of_a_deal_counts() -> None:
    february = date(2026, 2, 28)
    history = [
        (NOW - timedelta(minutes=90), TODAY, 6.0),
        (NOW - timedelta(minutes=30), february, 4.0),  # an older month, run again
    ]
    duration = {"metric": "wal", "operator": "gt", "value": 5, "duration_minutes": 60}
    assert asked("threshold", of=reading(result("wal", 6), by_day=True), history=history, **duration).holds is True
    assert asked("threshold", of=reading(result("wal", 6)), history=history, **duration).holds is False
    again = [(NOW - timedelta(minutes=90), TODAY, 6.0), (NOW - timedelta(minutes=30), TODAY, 4.0)]
    assert asked("threshold", of=reading(result("wal", 6), by_day=True), history=again, **duration).holds is False


# How much -------------------------------------------------------------------------------------------------------------


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@every(
    "direction, history, holds, change",
    [
        ("increasing", [(30, 5.5)], True, 0.5),
        ("increasing", [(30, 5.6)], False, 0.4),
        ("decreasing", [(30, 6.5)], True, -0.5),
        ("decreasing", [(30, 5.5)], False, 0.5),
        ("either", [(30, 5.5)], True, 0.5),
        ("either", [(30, 6.5)], True, -0.5),
        ("either", [(30, 6.0)], False, 0.0),
        ("increasing", [(40, 5.0), (31, 5.9)], False, 0.1),  # the last figure at the beginning of the span
        ("increasing", [(40, 5.0), (30, 5.9)], False, 0.1),
        ("increasing", [(40, 5.9), (29, 5.0), (10, 5.9)], False, 0.1),
        ("increasing", [(29, 5.5), (10, 5.9)], True, 0.5),  # no figure so old: the oldest there is
        ("increasing", [(61, 5.0), (29, 5.9)], False, 0.1),  # too old to be compared with
        ("increasing", [(61, 5.0)], None, None),
        ("increasing", [], None, None),
    ],
)
def test_a_change_is_from_the_beginning_of_the_span(
    direction: str, history: list[tuple[int, float]], holds: bool | None, change: float | None
) -> None:
    trend = {"metric": "wal", "direction": direction, "change_threshold": 0.5, "lookback_days": 30}
    by_run = asked(
        "trend", of=reading(result("wal", 6)), history=[(days_ago(n), TODAY, v) for n, v in history], **trend
    )
    assert (by_run.holds, by_run.details.get("change")) == (holds, change)
    # Months that were all run today: a deal's trend goes by the days of its figures.
    months = [(days_ago(0.1), TODAY - timedelta(days=n), value) for n, value in history]
    by_day = asked("trend", of=reading(result("wal", 6), by_day=True), history=months, **trend)
    assert (by_day.holds, by_day.details.get("change")) == (holds, change)
    if holds is not None:
        assert by_day.details["earlier_day"] == by_run.details["earlier_day"]


def test_a_day_in_the_first_year_is_a_day() -> None:
    trend = {"metric": "wal", "direction": "either", "change_threshold": 0.1, "lookback_days": 3660}
    first = reading(result("wal", 6), by_day=True, day=date(1, 1, 5))
    need = history_of(conditions_of("trend", trend), first, NOW)
    assert need is not None
    assert need.since == datetime(1, 1, 1, tzinfo=UTC)
    assert asked("trend", of=first, history=[(NOW, date(1, 1, 2), 5.0)], **trend).holds is True


def test_of_several_runs_on_a_day_the_last_stands() -> None:
    month = TODAY - timedelta(days=30)
    history = [(days_ago(2), month, 5.0), (days_ago(1), month, 5.9), (days_ago(0.5), TODAY, 5.0)]
    trend = {"metric": "wal", "direction": "increasing", "change_threshold": 0.1, "lookback_days": 30}
    outcome = asked("trend", of=reading(result("wal", 6), by_day=True), history=history, **trend)
    assert (outcome.holds, outcome.details["change"]) == (True, 0.1)
    assert outcome.sentence == "WAL rose from 5.90 years on 2026-03-01 to 6.00 years"
    same_day = [(days_ago(0.5), TODAY, 5.0)]
    assert asked("trend", of=reading(result("wal", 6), by_day=True), history=same_day, **trend).holds is None


@every(
    "kind, conditions, since",
    [
        ("threshold", {"operator": "gt", "value": 5, "duration_minutes": 60}, timedelta(hours=1)),
        ("threshold", {"operator": "gt", "value": 5}, None),
        ("threshold", {"operator": "gt", "value": 6, "duration_minutes": 60}, None),  # false already
        ("trend", {"direction": "either", "change_threshold": 1, "lookback_days": 30}, timedelta(days=60)),
        ("compliance", {"status": ["fail"]}, None),
    ],
)
def test_only_the_history_that_decides_is_asked_for(kind: str, conditions: Any, since: timedelta | None) -> None:
    value = conditions if kind == "compliance" else {"metric": "wal", **conditions}
    need = history_of(conditions_of(kind, value), reading(result("wal", 6)), NOW)
    assert (need and (need.test_id, NOW - need.since)) == (since and ("wal", since))


# Tests ----------------------------------------------------------------------------------------------------------------

RAN = (
    result("a", 6, status="fail", cushion=-1),
    result("b", 4.8, status="warning", cushion=0.2),
    result("c", 4.0, cushion=1.0),
    result("d", 1.0, cushion=None),
)


@every(
    "conditions, holds, raised",
    [
        ({"status": ["fail"]}, True, ["a"]),
        ({"status": ["fail", "warning"]}, True, ["a", "b"]),
        ({"status": ["pass"]}, True, ["c", "d"]),
        ({"status": ["fail"], "test_ids": ["b", "c"]}, False, []),
        ({"status": ["fail"], "test_ids": ["b", "c"], "cushion_threshold": 0.2}, False, []),
        ({"status": ["fail"], "test_ids": ["b", "c"], "cushion_threshold": 0.21}, True, ["b"]),
        ({"status": ["fail"], "cushion_threshold": 4.1}, True, ["a", "b", "c", "d"]),  # a cushion that was left out
        ({"status": ["pass"], "test_ids": ["skipped"]}, None, []),
        ({"status": ["pass"], "test_ids": ["absent"]}, None, []),
        ({"status": ["fail"], "test_ids": ["absent", "a", "a"]}, True, ["a"]),
        ({"status": ["fail"], "test_ids": ["b", "skipped"]}, None, []),
    ],
)
def test_tests_in_a_status_or_close_to_their_limits(conditions: Any, holds: bool | None, raised: list[str]) -> None:
    outcome = asked("compliance", of=reading(*RAN, skipped=("skipped",)), **conditions)
    assert (outcome.holds, [detail["test_id"] for detail in outcome.details["tests"]]) == (holds, raised)
    assert outcome.metric_value == (6 if raised == ["a"] else 4.8 if raised == ["b"] else None)


def test_a_sentence_of_several_tests_counts_them() -> None:
    outcome = asked("compliance", of=reading(*RAN), status=["fail", "warning"])
    assert outcome.sentence == "2 tests (1 failing, 1 in warning): A, B"
    assert asked("compliance", of=reading(*RAN), status=["fail"]).sentence == "a says so"
    many = asked("compliance", of=reading(*(result(f"t{n}", 6, status="fail") for n in range(60))), status=["fail"])
    assert (len(many.details["tests"]), many.details["tests_in_all"]) == (50, 60)


def test_failing_tests_come_first() -> None:
    ran = [
        result("a", 6, status="warning"),
        result("b", 4),
        result("c", 6, status="fail"),
        result("d", 7, status="fail"),
    ]
    outcome = asked("compliance", of=reading(*ran), status=["pass", "warning", "fail"])
    assert [detail["test_id"] for detail in outcome.details["tests"]] == ["c", "d", "a", "b"]
    assert outcome.sentence == "4 tests (2 failing, 1 in warning, 1 passing): C, D, A, B"


FORM = {"unit": "years", "decimals": 3}
OWN = {"limit": 5.0, "limit_type": "max", "cushion": 1.0, "unit": "years", "decimals": 3, "as_of": TODAY}
"""What details say of a test against its own limit, and of the day."""


def test_details_have_the_day_the_test_s_own_limit_and_how_to_show_its_figures() -> None:
    of = reading(result("wal", 6.0, **FORM), result("was", 9.0, status="fail", cushion=None, **FORM))
    compared = asked("threshold", of=of, metric="wal", operator="gt", value=5.5)
    assert OWN.items() <= compared.details.items()
    history = [(NOW - timedelta(days=30), TODAY - timedelta(days=30), 4.0)]
    moved = asked(
        "trend", of=of, history=history, metric="wal", direction="increasing", change_threshold=1, lookback_days=30
    )
    assert moved.holds
    assert OWN.items() <= moved.details.items()
    single = asked("compliance", of=of, status=["fail"])
    assert {**OWN, "test_id": "was", "test_name": "WAS", "cushion": -4.0}.items() <= single.details.items()
    several = asked("compliance", of=of, status=["fail", "pass"])
    assert several.details["as_of"] == TODAY
    (first, second) = several.details["tests"]
    own = {name: value for name, value in OWN.items() if name != "as_of"}
    assert {**own, "test_id": "was", "cushion": -4.0}.items() <= first.items()
    assert {**own, "test_id": "wal"}.items() <= second.items()


def test_figures_are_shown_with_the_decimals_of_their_test() -> None:
    def sentence_of(value: float, **form: Any) -> str:
        of = reading(result("wal", 6.0, **form))
        return asked("threshold", of=of, metric="wal", operator="gt", value=value).sentence

    assert sentence_of(5.5, **FORM) == "WAL is 6.000 years, above 5.500 years"
    assert sentence_of(5.0, unit="years", decimals=0) == "WAL is 6 years, above 5 years"
    assert sentence_of(5.99996, unit="years", decimals=2) == "WAL is 6.00000 years, above 5.99996 years"
    near = asked("threshold", of=reading(result("wal", 6.0)), metric="wal", operator="gt", value=5.99996)
    assert near.details["decimals"] == 5, "as many as tell the two apart"


def test_a_partial_run_is_about_the_tests_that_it_did_not_leave_out() -> None:
    left = [Skipped("wal", "WAL", "no column"), Skipped("was", "WAS", STOPPED)]
    some = reading(result("oc_ratio", 1.0), partial=True)
    some = replace(some, skipped=left)

    def covered(of: AlertReading, kind: str, **conditions: Any) -> bool:
        return is_covered(conditions_of(kind, conditions), of)

    by_test = {
        test_id: covered(some, "compliance", status=["fail"], test_ids=[test_id])
        for test_id in ("oc_ratio", "wal", "was", "ic_ratio")
    }
    assert by_test == {"oc_ratio": True, "wal": True, "was": False, "ic_ratio": False}
    by_metric = {
        metric: covered(some, "threshold", metric=metric, operator="gt", value=1)
        for metric in ("oc_ratio", "wal", "was")
    }
    assert by_metric == {"oc_ratio": True, "wal": True, "was": False}
    assert not covered(some, "compliance", status=["fail"], test_ids=["oc_ratio", "was"])
    assert not covered(some, "compliance", status=["fail"]), "it is about every test"
    assert covered(reading(), "compliance", status=["fail"]), "a full run is about all"


def test_a_metric_of_several_tests_needs_them_all() -> None:
    agencies = {"m": "a", "s": "b"}
    tests = [{"id": id_, "name": id_, "measure": "ccc", "agency": agencies[id_], "max": 7.5} for id_ in agencies]
    definition = parse({"tests": tests})
    conditions = conditions_of("threshold", {"metric": "ccc_bucket_pct", "operator": "gt", "value": 1})
    for names, expected in ((("m",), False), (("m", "s"), True)):
        value = reading(*(result(name, 9.0) for name in names), partial=True, suite="deal", definition=definition)
        assert is_covered(conditions, value) is expected, names


# Doubt ----------------------------------------------------------------------------------------------------------------

PRINTED = PublishedFigure(
    name="Senior IC", value=190.4, numerator=None, denominator=None, trigger=120.0, status="pass", place="'Tests'!C7",
    difference=-187.28, agrees=False,
)  # fmt: skip
DOUBTFUL: dict[str, Any] = {
    "status": "fail", "published": PRINTED, "doubt": [Doubt("differs", "the trustee has 190.40", [])], "doubtful": True,
}  # fmt: skip
TOLD = {"doubtful": True, "published_value": 190.4, "doubts": ["the trustee has 190.40"]}


def test_a_doubtful_test_raises_its_alert_and_says_that_it_is_doubtful() -> None:
    of = reading(result("ic_ratio", 3.12, **DOUBTFUL), result("wal", 9.0, status="fail"))
    item = asked("compliance", of=of, status=["fail"], test_ids=["ic_ratio"])
    assert item.holds
    assert item.sentence == "ic_ratio says so (doubtful: the file prints 190.40, pass)"
    assert TOLD.items() <= item.details.items()
    several = asked("compliance", of=of, status=["fail"])
    assert several.sentence == (
        "2 tests (2 failing): IC_RATIO, WAL. Doubtful is 1 of them: IC_RATIO, the file prints 190.40, pass"
    )
    assert (several.details["doubtful"], several.details["doubtful_tests"]) == (True, 1)
    assert [test["doubtful"] for test in several.details["tests"]] == [True, False]
    assert TOLD.items() <= several.details["tests"][0].items()


def test_every_doubtful_test_is_named() -> None:
    many = [result(f"t{at}", 9.0, **DOUBTFUL) for at in range(70)]
    sentence = asked("compliance", of=reading(*many), status=["fail"]).sentence
    assert all(f"T{at}, the file prints" in sentence for at in range(70))


def test_a_compared_figure_says_that_its_test_is_doubtful() -> None:
    of = reading(result("ic_ratio", 3.12, low=3.0, high=150.0, **DOUBTFUL))
    outcome = asked("threshold", of=of, metric="ic_ratio", operator="lt", value=120)
    assert outcome.holds, "a doubtful one goes by its figure"
    assert outcome.sentence == "IC_RATIO is 3.12 %, below 120.00 % (doubtful: the file prints 190.40, pass)"
    assert TOLD.items() <= outcome.details.items()
    trend = {"metric": "ic_ratio", "direction": "either", "change_threshold": 1.0, "lookback_days": 30}
    moved = asked("trend", of=of, history=[(NOW - timedelta(days=31), TODAY - timedelta(days=31), 9.0)], **trend)
    assert moved.sentence.endswith("to 3.12 % (doubtful: the file prints 190.40, pass)")
    missing = reading(result("wal", 9.0, status="fail", doubtful=True))
    sentence = asked("threshold", of=missing, metric="wal", operator="gt", value=5).sentence
    assert sentence.endswith("(doubtful: its inputs miss more par than its cushion bears)")


def test_what_is_not_doubtful_is_told_as_before() -> None:
    outcome = asked("threshold", of=reading(result("wal", 7.5)), metric="wal", operator="gt", value=5)
    assert outcome.sentence == "WAL is 7.50 years, above 5.00 years"
    assert (outcome.details["doubtful"], outcome.details["published_value"], outcome.details["doubts"]) == (
        False,
        None,
        [],
    )
