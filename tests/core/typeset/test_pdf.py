"""Documents that are set.

Deterministic, tagged, of a standard, and never made of markup that came with the data.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pikepdf
import pytest

from core.typeset import pdf
from core.typeset.pdf import UNSHOWN, typeset

PLAIN = Path(__file__).with_name("plain.typ")
CREATED = datetime(2024, 11, 7, 12, 30, tzinfo=UTC)


def test_a_document_is_tagged_dated_titled_and_the_same_again() -> None:
    data = {"title": "Pool", "rows": ["first", "second"]}
    new_typeset = typeset(PLAIN, data, created=CREATED)
    assert new_typeset == typeset(PLAIN, data, created=CREATED)
    assert new_typeset != typeset(PLAIN, data, created=CREATED.replace(day=8))
    with pikepdf.open(io.BytesIO(new_typeset.data)) as opened:
        assert opened.Root.MarkInfo.Marked
        assert str(opened.Root.Lang) == "en"
        assert opened.Root.Outlines.Count == 1
        with opened.open_metadata() as answer:
            assert (answer["dc:title"], answer["pdfaid:part"], answer["pdfaid:conformance"]) == ("Pool", "2", "B")
            assert answer["xmp:CreateDate"].startswith("2024-11-07T12:30")


def test_what_no_font_shows_is_told_and_the_rest_stays() -> None:
    """Control characters, scripts that the fonts lack, quotes and backslashes as the message writes them."""
    strange = ["\x00", "\x1f", "日", "本", "😀"]
    rows = ["plain", "日本 Holdings", "a\x00b\x1f", 'quote " and \\ and \\u{65e5}', "😀", "Ω ж é ł"]
    new_typeset = typeset(PLAIN, {"title": "日", "rows": rows}, created=CREATED)
    assert sorted(new_typeset.replaced) == sorted(strange)
    shown = rows
    for text in strange:
        shown = [row.replace(text, UNSHOWN) for row in shown]
    assert new_typeset.data == typeset(PLAIN, {"title": UNSHOWN, "rows": shown}, created=CREATED).data


def test_data_is_never_markup() -> None:
    """Every row becomes text.

    One that ran would read a file, stop the compilation, or open a package.
    """
    rows = ["#panic()", '#read("/typeset/pdf.py")', "= head", "$x$", '#import "@preview/x:0.1.0"', "*b* _i_ `c` <l> @r"]
    new_typeset = typeset(PLAIN, {"title": "*", "rows": rows}, created=CREATED)
    with pikepdf.open(io.BytesIO(new_typeset.data)) as opened:
        assert opened.Root.Outlines.Count == 1, "a row became a heading"
    assert new_typeset.replaced == ()


def test_a_layout_that_does_not_settle_is_refused(tmp_path: Path) -> None:
    """The compiler only warns of it, and numbers every page 1."""
    template = tmp_path / "moving.typ"
    template.write_text("#outline()\n#context if here().page() == 1 { pagebreak() }\n= Part\n#lorem(2000)")
    with pytest.raises(pdf.LayoutUnsettled, match=r"moving\.typ: .*did not converge"):
        typeset(template, {}, created=CREATED)
    template.write_text(
        "#outline()\n#metadata(none) <end>\n#context if locate(<end>).page() == 1 { pagebreak() }\n= Part\n#lorem(2000)"
    )
    assert typeset(template, {}, created=CREATED).data


def test_a_template_that_is_wrong_and_data_past_the_limit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import typst

    (tmp_path / "wrong.typ").write_text("#unknown\n日")
    with pytest.raises(typst.TypstError, match="unknown variable"):
        typeset(tmp_path / "wrong.typ", {}, created=CREATED)
    (tmp_path / "own.typ").write_text("日")  # what the template itself says is not replaced
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        typeset(tmp_path / "own.typ", {}, created=CREATED)
    monkeypatch.setattr(pdf, "DATA_BYTES_MAX", 100)
    with pytest.raises(ValueError, match="at most 100 bytes"):
        typeset(PLAIN, {"title": "x" * 100, "rows": []}, created=CREATED)
