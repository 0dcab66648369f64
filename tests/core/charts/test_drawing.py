"""SVG as text: nothing that is written leaves its element, and numbers are short and the same each time."""

from __future__ import annotations

from xml.etree import ElementTree

from core.charts.drawing import Drawing, escaped, width_of
from tests.rows import every

SVG = "{http://www.w3.org/2000/svg}"


@every(
    "words",
    [
        "plain", "", "<script>alert(1)</script>", "\"quotes\" 'and' & <b>", "]]>", "<!-- x -->", "a\x00b\x08\x7f\ufffe",
        "שלום", "🏦", "A" * 10_000, "\ud800", "&amp; &#0; &lt;",
    ],
)  # fmt: skip
def test_words_stay_words(words: str) -> None:
    drawing = Drawing(10, 10)
    drawing.text(1, 1, words, fill="#000000")
    chart = drawing.chart(words)
    root = ElementTree.fromstring(chart.svg)
    assert [item.tag for item in root.iter()] == [f"{SVG}svg", f"{SVG}title", f"{SVG}text"]
    kept = "".join(word for word in words if word.isprintable() or word in " 🏦")
    assert (root[0].text or "", root[1].text or "") == (kept, kept)
    assert chart.alt == words


def test_numbers_are_short_and_every_drawing_the_same() -> None:
    def drawn() -> str:
        drawing = Drawing(100, 10.5)
        drawing.rect(1 / 3, -0.001, 2.999, 10, fill="#123456")
        drawing.path([(0, 0), (1e-9, 5)], stroke="#000000", width=1, dash="3 2")
        drawing.rect(0, 0, -1, 5, fill="#000000")  # nothing to see
        return drawing.chart("x").svg

    assert drawn() == drawn()
    assert '<rect x="0.33" y="0" width="3" height="10" fill="#123456"/>' in drawn()
    assert 'd="M0 0L0 5"' in drawn()
    assert drawn().count("<rect") == 1
    assert 'width="100pt" height="10.5pt"' in drawn()


def test_what_no_xml_holds_is_left_out() -> None:
    assert escaped("a\x01\x1f\x7f\x85\udfff\uffffb\t\n") == "ab\t\n"
    assert width_of("12.34") > width_of("1.2") > 0
