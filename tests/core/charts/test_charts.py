"""Charts say what their tables say.

On the right side of the limit, in proportion, and inside their frames.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from core.charts.charts import Against, Bar, Moment, bar, bullet, columns, through_time, ticks_of
from core.charts.drawing import LABEL_PT, Chart, width_of
from core.charts.palette import ACCENT, INK, PALE, STATUS, Status
from tests.rows import every

SVG = "{http://www.w3.org/2000/svg}"
SMALL = 0.02  # what two decimals of a place lose

figures = st.floats(-1e12, 1e12).map(lambda value: round(value, 6))


def parts(chart: Chart, tag: str) -> list[dict[str, str]]:
    return [dict(item.attrib) for item in ElementTree.fromstring(chart.svg).iter(f"{SVG}{tag}")]


def texts(chart: Chart) -> list[tuple[str, dict[str, str]]]:
    return [(item.text or "", dict(item.attrib)) for item in ElementTree.fromstring(chart.svg).iter(f"{SVG}text")]


def frame_holds(chart: Chart) -> None:
    """Every place of every element is inside the drawing, labels by their own measure."""
    for item in ElementTree.fromstring(chart.svg).iter():
        for name in ("x", "x1", "x2", "cx"):
            assert -SMALL <= float(item.attrib.get(name, "0")) <= chart.width + SMALL, item.attrib
        for name in ("y", "y1", "y2", "cy"):
            assert -SMALL <= float(item.attrib.get(name, "0")) <= chart.height + SMALL, item.attrib
        if "width" in item.attrib and item.tag == f"{SVG}rect":
            assert float(item.attrib["x"]) + float(item.attrib["width"]) <= chart.width + SMALL
    for words, answer in texts(chart):
        wide = width_of(words, float(answer["font-size"]))
        left = float(answer["x"]) - {"start": 0, "middle": wide / 2, "end": wide}[answer["text-anchor"]]
        assert -1 <= left <= left + wide <= chart.width + 1, words


def marks(chart: Chart, status: Status) -> tuple[float, float]:
    """(where the figure's marker stands, where the limit's mark stands)."""
    limit = next(float(part["x1"]) for part in parts(chart, "line") if part["stroke"] == INK)
    if status == "pass":
        return float(parts(chart, "circle")[0]["cx"]), limit
    if status == "fail":
        square = parts(chart, "rect")[-1]
        return float(square["x"]) + 2.5, limit
    return float(parts(chart, "path")[-1]["d"].split()[0].removeprefix("M")), limit


@settings(deadline=None)
@given(figures, figures, st.sampled_from(["min", "max"]), st.none() | figures)
def test_a_marker_stands_on_its_side_of_the_limit(
    value: float, limit: float, direction: Literal["min", "max"], warning: float | None
) -> None:
    passes = value <= limit if direction == "max" else value >= limit
    status: Status = "pass" if passes else "fail"
    chart = bullet(Against(value, limit, direction, status, warning), "a test")
    marker, mark = marks(chart, status)
    if direction == "max":
        assert marker <= mark + SMALL if passes else marker >= mark - SMALL
    else:
        assert marker >= mark - SMALL if passes else marker <= mark + SMALL
    frame_holds(chart)


def test_a_maximum_has_a_bar_from_zero_in_proportion() -> None:
    half, most = (bullet(Against(value, 8.0, "max", "pass"), "a test") for value in (4.0, 8.0))
    short, long = (
        next(part for part in parts(chart, "rect") if part["fill"] == STATUS["pass"]) for chart in (half, most)
    )
    assert (short["x"], long["x"]) == ("0", "0")
    assert abs(2 * float(short["width"]) - float(long["width"])) <= 2 * SMALL
    assert abs(float(long["width"]) - marks(most, "pass")[1]) <= SMALL, "a figure at its limit ends at the mark"


def test_each_status_has_a_shape_of_its_own() -> None:
    shapes = {
        status: [(tag, len(parts(bullet(Against(5.0, 8.0, "max", status), "x"), tag))) for tag in ("circle", "path")]
        for status in ("pass", "warning", "fail")
    }
    assert shapes == {
        "pass": [("circle", 1), ("path", 0)],
        "warning": [("circle", 0), ("path", 1)],
        "fail": [("circle", 0), ("path", 0)],
    }


def test_a_figure_between_two_ends_shows_both() -> None:
    chart = bullet(Against(7.0, 7.5, "max", "pass", 6.75, 6.0, 7.2), "a test")
    between = next(part for part in parts(chart, "line") if part["stroke-width"] == "3")
    low, high = sorted(float(between[end]) for end in ("x1", "x2"))
    assert low < marks(chart, "pass")[0] < high < marks(chart, "pass")[1]


@every(
    "value, most, share", [(10.0, 10.0, 1.0), (5.0, 10.0, 0.5), (0.0, 10.0, 0.0), (-3.0, 10.0, 0.0), (0.0, 0.0, 0.0)]
)
def test_bars_share_a_scale(value: float, most: float, share: float) -> None:
    chart, full = bar(value, most, "a name"), bar(max(most, 1.0), max(most, 1.0), "a name")
    wide = [float(part["width"]) for part in parts(chart, "rect")]
    whole = float(parts(full, "rect")[0]["width"])
    assert abs(sum(wide) - share * whole) <= SMALL * 2
    frame_holds(chart)


def test_a_limit_beyond_the_bars_is_on_the_scale() -> None:
    chart = bar(2.0, 3.0, "a name", limit=10.0)
    frame_holds(chart)
    assert float(parts(chart, "line")[-1]["x1"]) > float(parts(chart, "rect")[0]["width"]) * 4


def test_columns_are_in_proportion_and_their_labels_apart() -> None:
    par = {"Aaa": 0.0, "Baa1": 5.0, "B2": 40.0, "Caa1": 20.0, "100 and above": 10.0, "Not stated": 25.0}
    chart = columns([Bar(*item, f"{item[1]:.1f}") for item in par.items()], "x", muted=frozenset(["Not stated"]))
    frame_holds(chart)
    bars = parts(chart, "rect")
    tallest = float(bars[1]["height"])
    expected = [round(value / 40, 2) for value in par.values() if value]  # an empty bucket has no bar
    assert [round(float(item["height"]) / tallest, 2) for item in bars] == expected
    assert [item["fill"] for item in bars] == [ACCENT] * 4 + [PALE]
    by_line: dict[str, list[tuple[float, float]]] = {}
    for words, answer in texts(chart):
        half = width_of(words, float(answer["font-size"])) / 2
        by_line.setdefault(answer["y"], []).append((float(answer["x"]) - half, float(answer["x"]) + half))
    for line in by_line.values():
        assert all(end <= start + 0.5 for (_, end), (start, _) in pairwise(sorted(line)))


@every("count", [1, 2, 7, 13, 25])
def test_many_columns_stay_in_the_frame(count: int) -> None:
    rows = [Bar("Averyveryverylongname of many words here", 1e15 * (at + 1), "1,234,567.0") for at in range(count)]
    frame_holds(columns(rows, "x"))


def test_nothing_is_drawn_of_nothing() -> None:
    for chart in (columns([], "none"), through_time([], "none")):
        assert [item.tag for item in ElementTree.fromstring(chart.svg)] == [f"{SVG}title"]


def months(values: list[float], triggers: list[float]) -> list[Moment]:
    return [
        Moment(date(2024 + at // 12, at % 12 + 1, 28), value, trigger, "pass" if value >= trigger else "fail")
        for at, (value, trigger) in enumerate(zip(values, triggers, strict=True))
    ]


def test_a_trigger_steps_on_its_day() -> None:
    rows = months([110, 111, 109, 108], [104, 104, 106, 106])
    chart = through_time(rows, "a ratio")
    frame_holds(chart)
    dashed, line = parts(chart, "path")[:2]
    at = [tuple(map(float, point.split())) for point in line["d"].removeprefix("M").split("L")]
    steps = [tuple(map(float, point.split())) for point in dashed["d"].removeprefix("M").split("L")]
    assert len(at) == 4
    assert [x for x, _ in steps[1:3]] == [at[2][0]] * 2, "up on the third day"
    assert steps[0][1] == steps[1][1] > steps[2][1] == steps[3][1]
    assert [y < steps[-1][1] for _, y in at] == [True] * 4, "every figure above its trigger"
    assert {words for words, _ in texts(chart)} >= {"108.00", "106.00", "Apr 2024"}


def test_where_months_leave_no_room_breaches_keep_their_shapes() -> None:
    few, many = (
        through_time(months([110.0] * (count - 2) + [90.0, 110.0], [104.0] * count), "x") for count in (12, 120)
    )
    assert [len(parts(chart, "circle")) for chart in (few, many)] == [11, 1]
    assert [len(parts(chart, "rect")) for chart in (few, many)] == [1, 1]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(figures, figures), min_size=1, max_size=130))
def test_every_history_fits(pairs: list[tuple[float, float]]) -> None:
    chart = through_time(months([item for item, _ in pairs], [second for _, second in pairs]), "a ratio", width=500)
    for item in ElementTree.fromstring(chart.svg).iter(f"{SVG}circle"):
        assert 0 <= float(item.attrib["cx"]) <= 500
    ends = [answer for words, answer in texts(chart) if answer["text-anchor"] == "start"]
    assert len(ends) == 2
    assert abs(float(ends[0]["y"]) - float(ends[1]["y"])) >= LABEL_PT, "the two last figures do not stand on each other"


@settings(deadline=None)
@given(figures, figures)
def test_ticks_are_few_round_and_cover(first: float, lighter: float) -> None:
    low, high = sorted((first, lighter))
    ticks = ticks_of(low, high)
    assert 2 <= len(ticks) <= 8
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    step = ticks[1] - ticks[0]
    leading = float(f"{step:.0e}".split("e")[0])
    assert leading in (1, 2, 5), step
