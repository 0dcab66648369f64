"""The strict readers of cells and strings.

However the bytes are cut, the same fault at the same place.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.provenance._strict import FAULTS, Cells, Strings
from tests.rows import every

RICH = np.array([3, -1], np.int8)
ROWS = (
    '<{p}row r="1" spans="1:3" ht="12.75" hidden="0"><{p}c r="A1" t="s"><{p}v>0</{p}v></{p}c><{p}c r="B1" s="1"/>'
    '<{p}c r="C1"><{p}f>A1&amp;"x"</{p}f><{p}v>1E-3</{p}v></{p}c></{p}row>\n<{p}row r="3" hidden="true"/>'
    '<{p}row r="5"><{p}c r="B5" t="str"><{p}f t="shared" ref="B5:B6" si="0">A5</{p}f><{p}v></{p}v></{p}c></{p}row>'
    '<{p}row r="6"><{p}c r="B6" t="e" vm="1"><{p}f t="shared" si="0"/><{p}v>#VALUE!</{p}v></{p}c>'
    '<{p}c r="C6" cm="1"><{p}f t="array" ref="C6:C7" aca="false">A1:A2</{p}f><{p}v>-1.5</{p}v></{p}c></{p}row>'
    '<{p}row r="7"><{p}c r="C7"><{p}f ca="1"/><{p}v>2</{p}v></{p}c><{p}c r="D7" t="b"><{p}v>1</{p}v></{p}c>'
    '<{p}c r="E7" t="inlineStr"><{p}is><{p}t xml:space="preserve"> x</{p}t></{p}is></{p}c></{p}row>'
)
STRINGS = (
    "<si><t>a</t></si>\n<si><t/></si><si><t xml:space=\"preserve\"> &#233;_x000D_</t><phoneticPr fontId=\"1\"/></si>"
    "<si><r><t>a</t></r><r><rPr><b/><sz val=\"11\"/></rPr><t>b</t></r></si>"
)  # fmt: skip


def cells_of(rows: str, size: int, prefix: str = "") -> tuple[Cells, bytes | None]:
    reader = Cells(prefix.encode(), strings=1, styles=2, rich=RICH, descents=True)
    data = (rows + f"</{prefix}sheetData><after/>").encode()
    for at in range(0, len(data), size):
        rest = reader.feed(data[at : at + size])
        if rest is not None:
            return reader, rest + data[at + size :]
    return reader, reader.finish()


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_what_programs_write_passes_however_it_is_cut(prefix: str) -> None:
    rows = ROWS.replace("{p}", prefix)
    for size in (1, 2, 3, 7, 64, 10_000):
        reader, rest = cells_of(rows, size, prefix)
        assert (reader.fault, rest, reader.reached) == (0, b"<after/>", (0, 0, 6, 4)), (size, FAULTS.get(reader.fault))


FAULTY = [
    ('<c r="B6" t="e" vm="1">', '<c r="B6" t="e" vm="2">', "metadata", (5, 1)),
    ('<c r="B6" t="e" vm="1">', '<c r="B6" t="e" vm="3">', "metadata", (5, 1)),
    ("<v>-1.5</v>", "<v>-1.</v>", "a value", (5, 2)),
    ("<v>1E-3</v>", "<v>1E</v>", "a value", (0, 2)),
    ("<v>1E-3</v>", "<v>01</v>", "a value", (0, 2)),
    ("<v>1E-3</v>", f"<v>{'1' * 41}</v>", "a value", (0, 2)),
    ('<c r="C7"><f ca="1"/>', '<c r="B7"><f ca="1"/>', "a formula without a text", (6, 1)),
    ('<c r="A1"', '<c r="A1048577"', "an address", (0, -1)),
    ('<c r="A1"', '<c r="XFE1"', "an address", (0, -1)),
    ('<row r="7">', '<row r="1048577">', "an address", (5, 2)),
    ('<row r="7">', '<row r="6">', "twice or out of order", (5, -1)),
    ('si="0">A5', 'si="4194304">A5', "a shared formula", (4, 1)),
    ('ref="C6:C7"', 'ref="C6:C7:C8"', "an address", (5, 2)),
    ('<v>1</v></c><c r="E7"', '<v>1</v><c r="E7"', "markup", (6, 3)),
    ("</sheetData>", "</sheetdata>", "markup", (6, 4)),
    ("A1&amp;", "A1&amp", "a character", (0, 2)),
    ("A1&amp;", "A1]]>", "a character", (0, 2)),
    (" x</t>", " x_x0041_</t>", "a character", (6, 4)),
]


@every("old, new, words, place", FAULTY)
def test_a_fault_is_the_same_however_it_is_cut(old: str, new: str, words: str, place: tuple[int, int]) -> None:
    rows = ROWS.replace("{p}", "") + "</sheetData>"
    assert old in rows
    rows = rows.replace(old, new, 1).removesuffix("</sheetData>")
    for size in (1, 5, 10_000):
        reader, _ = cells_of(rows, size)
        assert words in FAULTS[reader.fault], (size, FAULTS.get(reader.fault))
        if size > 1_000:
            assert reader.place == place


def test_what_ends_too_early_has_no_end() -> None:
    rows = ROWS.replace("{p}", "")
    for size in range(0, len(rows), 11):
        reader = Cells(b"", strings=1, styles=2, rich=RICH, descents=True)
        assert reader.feed(rows[:size].encode()) is None
        reader.finish()
        assert "an end that is missing" in FAULTS[reader.fault]


def test_strings_pass_however_they_are_cut() -> None:
    for size in (1, 3, 10_000):
        reader = Strings(b"")
        data = STRINGS.encode() + b"</sst>"
        rest = None
        for at in range(0, len(data), size):
            rest = reader.feed(data[at : at + size])
        rest = reader.finish() if rest is None else rest
        assert (reader.fault, reader.count, rest) == (0, 4, b""), FAULTS.get(reader.fault)


def test_a_row_too_low_is_named() -> None:
    reader, _ = cells_of('<row r="1" ht="0"/><row r="2" ht="1.5" hidden="1"/><row r="9" ht="1.5"/>', 10_000)
    assert reader.low_row == 0
    reader, _ = cells_of('<row r="2" ht="1.5" hidden="1"/><row r="9" ht="1.5"/>', 10_000)
    assert reader.low_row == 8


def test_a_piece_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Cells(b"", strings=1, styles=2, rich=RICH, descents=True)
    piece = b"x" * (1024 * 1024)
    rest = reader.feed(b'<row r="1"><c r="A1" t="str"><v>')
    for _ in range(40):
        rest = reader.feed(piece)
        if rest is not None:
            break
    assert rest == b""
    assert "longer than the limit" in FAULTS[reader.fault]
