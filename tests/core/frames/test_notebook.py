"""Tables for notebooks.

What a cell holds stays text, and nothing is fetched or run.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from core.frames.figures import figure_shown
from core.frames.notebook import FIRST, LAST, FigureText, bar, card, left_out, number_shown, places, table, verdict
from tests.rows import every

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</td></table><h1>",
    "&lt;b&gt;",
    "\x00\x1b[2J\ud800",
]


@every("text", HOSTILE)
def test_text_stays_text(text: str) -> None:
    html = card(text, [text], table([text], [[text], [1.0], None]))
    tree = ElementTree.fromstring(html.replace("\x00", "!"))  # well-formed, though a stranger's text is in it
    assert {item.tag for item in tree.iter()} == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    seen = [item.text for item in tree.iter("td")]
    shown = "".join(item for item in text if item >= " " and not "\ud800" <= item <= "\udfff")
    assert seen == [shown, "1", "…"]


def test_nothing_is_fetched_and_nothing_runs() -> None:
    html = card("x", [], table(["", "a"], [[bar(1.0, 2.0, "max", "pass"), verdict("fail")]]))
    assert not re.search(r"<script|<style|<link|<img|\son\w+=|url\(|src=|href=", html)
    assert set(re.findall(r"https?://[^\"]+", html)) == {"http://www.w3.org/2000/svg"}


def test_a_table_says_its_colours_in_every_cell() -> None:
    """A dark notebook colours rows and cells by a sheet of its own.

    Only what stands in the element wins.
    """
    html = table(["a", "b"], [[1, "x"], [2, "y"]])
    cells = re.findall(r"<t[hdr] style=\"([^\"]*)\"", html)
    assert len(cells) == 9
    assert all("background:#" in cell and "color:#" in cell.replace("background", "") for cell in cells)


def test_places() -> None:
    assert places(0) == []
    assert places(FIRST + LAST) == [*range(FIRST + LAST)]
    assert places(1000) == [*range(FIRST), None, *range(1000 - LAST, 1000)]
    assert (left_out(15, "rows"), left_out(1016, "rows")) == ("", "1,001 rows between them are not shown")


@every(
    "value,limit",
    [(float("nan"), 1.0), (1.0, float("inf")), (1e300, 1e300), (0.0, 0.0), (-5.0, 0.0), (-5.0, -3.0), (1e-12, 1e12)],
)
def test_a_bar_of_any_figures(value: float, limit: float) -> None:
    for direction in ("min", "max", "exact"):
        drawn = bar(value, limit, direction, "warning")
        assert drawn == "" or ElementTree.fromstring(drawn).tag == "span"


@every(
    "value,text", [(0.0, "0"), (1234.5, "1,234.5"), (1e-9, "1e-09"), (1e20, "1e+20"), (float("inf"), "inf"), (2.0, "2")]
)
def test_numbers(value: float, text: str) -> None:
    assert number_shown(value) == text


def test_figures() -> None:
    assert [figure_shown(1234.567), figure_shown(0.5, "+"), figure_shown(-1e20)] == ["1,234.57", "+0.50", "-1e+20"]


def test_figures_stand_to_the_right_as_they_are_given() -> None:
    html = table(["a", "b"], [[FigureText("1,234.50"), "x"], [None, "y"], [FigureText("-"), "z"]])
    assert ">1,234.50<" in html
    assert re.findall(r"text-align:(\w+)", html)[:2] == ["right", "left"]
