"""Texts that a page can hold."""

from __future__ import annotations

from core.typeset.pdf import UNSHOWN
from core.typeset.texts import TEXT_MAX, page_text, whole_text
from tests.rows import every


@every(
    "words, shown",
    [
        ("plain words", "plain words"),
        ("a\tb\n\nc  d", "a b c d"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}abc\x00", "abc"),
        ("conventions.defaulted_in_denominator", "conventions.\u200bdefaulted_\u200bin_\u200bdenominator"),
        ("overcollateralisation", "overcollateralisation"),
        ("A" * 30, "A" * 12 + "\u200b" + "A" * 12 + "\u200b" + "A" * 6),
        ("", ""),
        ("y" * 13 + "e\u0301\u0301" * 16, "\u200b".join(["y" * 12, "y" + "e\u0301\u0301" * 11, "e\u0301\u0301" * 5])),
        ("a\ud800b", f"a{UNSHOWN}b"),
    ],
)
def test_a_text_of_a_cell(words: str, shown: str) -> None:
    assert page_text(words) == shown


def test_a_text_past_the_limit_is_cut_with_a_mark() -> None:
    long = page_text("word " * 1_000)
    assert len(long) <= TEXT_MAX
    assert long.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert whole_text("word " * 1_000) == " ".join(["word"] * 1_000), "a warning names all that it is about"
