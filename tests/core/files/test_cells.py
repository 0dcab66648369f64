"""Every way in which a cell can be written, one small sheet each.

Then the scanner against any cut of its input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files._cells import SharedStrings, SheetScanner
from core.files.errors import ParseFailed
from core.files.read import read
from core.files.xlsx import iso_serial
from core.grid.sheet import Sheet, Value
from core.values import Kind

STRINGS = (
    '<sst xmlns="x" count="9"><si><t>plain</t></si><si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space="preserve">ch '
    "</t></r>"
    "<rPh sb='0' eb='1'><t>sound</t></rPh><phoneticPr fontId='1'/></si><si><t/></si><si><t>plain</t></si><si/>"
    "<si><t>&lt;a&amp;b&gt; &#x41;&#66;&quot;&apos;</t></si><si><t>_x0041__x005F_x0041_ _x0000_ _xD83D__xDE00_ "
    "_xD83D_ _x00g1_</t></si>"
    "<si><t><![CDATA[<x>&amp;]]> y<!-- no --></t></si><si><t>a\r\nb\rc\n&#13;</t></si></sst>"
)
STRING_VALUES = [
    "plain",
    "rich ",
    "",
    "plain",
    "",
    "<a&b> AB\"'",
    "A_x0041_ _x0000_ 😀 _xD83D_ _x00g1_",
    "<x>&amp; y",
    "a\nb\nc\n\r",
]

Made = Callable[..., Path]


def only(path: Path) -> Sheet:
    (sheet,) = read(path).sheets
    return sheet


def first(path: Made, cell: str, **options: str) -> tuple[Kind, Value]:
    sheet = only(path(f'<row r="1">{cell}</row>', **options))
    return sheet.kind(0, 0), sheet.value(0, 0)


@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        ('<c r="A1"><v>1.5</v></c>', Kind.NUMBER, 1.5),
        ('<c r="A1" t="n"><v> -2E3 </v></c>', Kind.NUMBER, -2000.0),
        ("<c><v>7</v></c>", Kind.NUMBER, 7.0),
        ('<x:c r="A1"><x:v>7</x:v></x:c>', Kind.NUMBER, 7.0),
        ("<c r='A1' s='99'><v>7</v></c>", Kind.NUMBER, 7.0),
        ('<c\n r = "A1"\t><v\n>7</v ></c\n>', Kind.NUMBER, 7.0),
        ('<c r="A1"><!-- <v>8</v> --><?pi <v>8</v> ?><v><![CDATA[7]]></v></c>', Kind.NUMBER, 7.0),
        ('<c r="A1"><v>&#55;</v></c>', Kind.NUMBER, 7.0),
        ('<c r="A1"><v>1e999</v></c>', Kind.ERROR, "#NUM!"),
        ('<c r="A1"><v>abc</v></c>', Kind.TEXT, "abc"),
        ('<c r="A1" t="b"><v>1</v></c>', Kind.BOOLEAN, True),
        ('<c r="A1" t="b"><v>0</v></c>', Kind.BOOLEAN, False),
        ('<c r="A1" t="b"><v>true</v></c>', Kind.BOOLEAN, True),
        ('<c r="A1" t="e"><v>#N/A</v></c>', Kind.ERROR, "#N/A"),
        ('<c r="A1" t="e"><v>#DIV/0!</v></c>', Kind.ERROR, "#DIV/0!"),
        ('<c r="A1" t="e"><v>#BLOCKED!</v></c>', Kind.ERROR, "#VALUE!"),
        ('<c r="A1" t="str"><v>a &amp; _x0042_</v></c>', Kind.TEXT, "a & B"),
        ('<c r="A1" t="str"><v></v></c>', Kind.TEXT, ""),
        ('<c r="A1" t="inlineStr"><is><t> in </t></is></c>', Kind.TEXT, " in "),
        (
            '<c r="A1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c>',
            Kind.TEXT,
            "ab",
        ),
        ('<c r="A1" t="inlineStr"><is><t>é😀</t></is></c>', Kind.TEXT, "é😀"),
        ('<c r="A1" t="d"><v>2016-03-23T12:00:00Z</v></c>', Kind.DATE, 42452.5),
        ('<c r="A1" t="d"><v>2016-03-23</v></c>', Kind.DATE, 42452.0),
        ('<c r="A1" t="d"><v>T06:00:00</v></c>', Kind.DATE, 0.25),
        ('<c r="A1" t="d"><v>soon</v></c>', Kind.TEXT, "soon"),
        ('<c r="A1" t="str"><v>v &amp; w</v><extLst><ext>x &amp; y<v>z</v></ext></extLst></c>', Kind.TEXT, "v & w"),
        ('<c r="A1" t="str"><v>v &amp; w</v><f>1&amp;2</f></c>', Kind.TEXT, "v & w"),
    ],
)
def test_a_cell_is_read_by_its_type(ods_path: Made, cell: str, kind: Kind, value: Value) -> None:
    assert first(ods_path, cell) == (kind, value)


@pytest.mark.parametrize(
    "cell",
    ['<c r="A1"/>', '<c r="A1" s="1"></c>', '<c r="A1"><v></v></c>', '<c r="A1"><v/></c>', '<c r="A1" t="s"><v/></c>'],
)
def test_a_cell_that_holds_nothing_is_no_cell(ods_path: Made, cell: str) -> None:
    sheet = only(ods_path(f'<row r="1">{cell}</row>'))
    assert (sheet.row_count, sheet.column_count) == (0, 0)


def test_shared_strings_of_every_sort(ods_path: Made) -> None:
    cells = "".join(f'<c t="s"><v>{at}</v></c>' for at in range(len(STRING_VALUES)))
    sheet = only(ods_path(f"<row>{cells}</row>", strings=STRINGS))
    assert [sheet.value(0, at) for at in range(len(STRING_VALUES))] == STRING_VALUES
    assert sorted(sheet.text.strings()) == sorted(set(STRING_VALUES)), "equal strings share a code"


@pytest.mark.parametrize("strings", [STRINGS, None])
def test_a_shared_string_past_the_table_is_an_empty_text(ods_path: Made, strings: str | None) -> None:
    sheet = only(ods_path('<row><c t="s"><v>9</v></c><c><v>7</v></c></row>', strings=strings))
    assert (sheet.value(0, 0), sheet.value(0, 1)) == ("", 7.0)


@pytest.mark.parametrize("index", ["-1", "x", "99999999999"])
def test_a_shared_string_by_what_is_no_number_is_refused(ods_path: Made, index: str) -> None:
    with pytest.raises(ParseFailed, match="shared string"):
        read(ods_path(f'<row><c t="s"><v>{index}</v></c></row>', strings=STRINGS))


def test_rows_and_cells_without_their_addresses_follow_each_other(ods_path: Made) -> None:
    sheet = only(
        ods_path(
            '<row><c><v>1</v></c><c r="D1"><v>2</v></c><c><v>3</v></c></row><row r="5"><c/><c><v>4</v></c></row><row>'
            "<c><v>5</v></c></row>"
        )
    )
    result = {(r, c): sheet.value(r, c) for r in range(8) for c in range(6) if sheet.value(r, c) is not None}
    assert result == {(0, 0): 1.0, (0, 3): 2.0, (0, 4): 3.0, (4, 1): 4.0, (5, 0): 5.0}


def test_cells_in_any_order_and_twice(ods_path: Made) -> None:
    cells = [(r, c) for r in range(0, 60, 7) for c in range(3)]
    order = np.random.default_rng(5).permutation(len(cells))
    data = "".join(
        f'<row r="{cells[at][0] + 1}"><c r="{"ABC"[cells[at][1]]}{cells[at][0] + 1}"><v>{at}</v></c></row>'
        for at in order
    )
    sheet = only(ods_path(data + '<row r="1"><c r="A1"><v>99</v></c></row>'))
    assert sheet.value(0, 0) == 99.0
    assert all(sheet.value(*cell) == float(at) for at, cell in enumerate(cells) if at)
    assert sheet.row_count == 57


def test_a_sparse_sheet_costs_its_spans_only(ods_path: Made) -> None:
    sheet = only(
        ods_path('<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="XFD1000000"><v>2</v></c></row>')
    )
    assert (sheet.row_count, sheet.column_count) == (1_000_000, 16_384)
    assert (sheet.value(0, 0), sheet.value(999_999, 16_383)) == (1.0, 2.0)
    assert sum(len(column.kinds) for column in sheet.columns if column is not None) == 2


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("A1048577", "row 1,048,576"),
        ("A2000000", "row 1,048,576"),
        ("XFE1", "column 16,384"),
        ("ZZZZ1", "column 16,384"),
        ("A0", "address"),
        ("1", "address"),
        ("A", "address"),
        ("A1B", "address"),
        ("", "address"),
        ("A9999999999", "address"),
        ("ÄA1", "address"),
    ],
)
def test_a_cell_past_the_limits_is_refused(ods_path: Made, address: str, hint: str) -> None:
    with pytest.raises(ParseFailed, match=hint):
        read(ods_path(f'<row><c r="{address}"><v>1</v></c></row>'))


def test_a_blank_formatted_cell_past_the_limit_is_no_cell(ods_path: Made) -> None:
    assert (
        only(
            ods_path('<row r="1048576"><c r="A1048576" s="1"/></row><row r="2"><c r="A2"><v>1</v></c></row>')
        ).row_count
        == 2
    )


def test_formulas_normal_shared_and_array(ods_path: Made) -> None:
    sheet = only(
        ods_path(
            '<row r="1"><c r="A1"><f>B1*2&gt;1</f><v>4</v></c><c r="B1"><v>2</v></c></row>'
            '<row r="2"><c r="A2"><f t="shared" ref="A2:A4" si="0">B2+$B$1+B$1</f><v>1</v></c><c r="C2"><f t="array" '
            'ref="C2:C3">A1:A2*2</f><v>1</v></c></row>'
            '<row r="3"><c r="A3"><f t="shared" si="0"/><v>1</v></c><c r="C3"><v>1</v></c><c r="D3"><f>   </f>'
            "</c></row>"
            '<row r="4"><c r="A4"><f t="shared" si="0"></f></c><c r="B4"><f t="dataTable" ref="B4:B5" r1="A1"/>'
            '<v>3</v></c><c r="C4"><f ca="1"/><v>1</v></c></row>'
        )
    )
    result = {(r, c): sheet.formula(r, c) for r in range(5) for c in range(5) if sheet.formula(r, c) is not None}
    assert result == {
        (0, 0): "B1*2>1",
        (1, 0): "B2+$B$1+B$1",
        (1, 2): "A1:A2*2",
        (2, 0): "B3+$B$1+B$1",
        (2, 3): "   ",
        (3, 0): "B4+$B$1+B$1",
        (3, 1): "TABLE(,A1)",
    }
    array, table = sheet.formulas.arrays.items()
    assert (sheet.formulas.rows[array[0]], array[1]) == (1, "C2:C3")
    assert (sheet.formulas.rows[table[0]], table[1]) == (3, "B4:B5")
    assert sheet.kind(3, 0) == Kind.BLANK, "a formula without a value is a cell"
    assert sheet.formula(100, 100) is None


def test_shared_formulas_out_of_order_and_without_an_origin(ods_path: Made) -> None:
    sheet = only(
        ods_path(
            '<row r="3"><c r="A3"><f t="shared" si="7"/><v>3</v></c></row><row r="1"><c r="B1"><f t="shared" si="8"/>'
            "<v>9</v></c>"
            '<c r="A1"><f t="shared" si="7" ref="A1:A3">B1</f><v>1</v></c></row>'
            '<row r="2"><c r="A2"><f t="shared" si="7"/><v>2</v></c></row><row r="2"><c r="A2"><f>C9</f><v>5</v>'
            "</c></row>"
        )
    )
    assert [sheet.formula(row, 0) for row in range(3)] == ["B1", "C9", "B3"]
    assert sheet.formula(0, 1) is None
    assert sheet.value(0, 1) == 9.0


def test_merged_ranges_and_a_lying_dimension(ods_path: Made) -> None:
    sheet = only(
        ods_path(
            '<row r="1"><c r="A1"><v>1</v></c></row>',
            before='<dimension ref="A1:XFD1048576"/>',
            after='<mergeCells count="2"><mergeCell ref="A1:B2"/><mergeCell ref="C3:C9"></mergeCell></mergeCells>',
        )
    )
    assert sheet.merged == ((0, 0, 1, 1), (2, 2, 8, 2))
    assert (sheet.row_count, sheet.column_count) == (1, 1)


@pytest.mark.parametrize("reference", ["B2:A1", "A1:XFE2", "A1:B1048577", "hello", ""])
def test_a_bad_merged_range_merges_nothing(ods_path: Made, reference: str) -> None:
    ranges = f'<mergeCell ref="{reference}"/><mergeCell ref="A1:B2"/>'
    assert only(ods_path("", after=f"<mergeCells>{ranges}</mergeCells>")).merged == ((0, 0, 1, 1),)


def test_cells_and_rows_outside_the_data_are_not_read(ods_path: Made) -> None:
    sheet = only(
        ods_path(
            "", before='<c r="A1"><v>1</v></c>', after='<extLst><ext><row r="3"/><c r="B2"><v>1</v></c></ext></extLst>'
        )
    )
    assert (sheet.row_count, sheet.column_count) == (0, 0)


@pytest.mark.parametrize(
    ("xml", "hint"),
    [
        ("<worksheet><sheetData><row><c r='A1'><v>1</v></c></row>", "ends too early"),
        ("<worksheet><sheetData><row><c r='A1'><v>1</v>", "ends too early"),
        ("<worksheet><sheetData><row><c r='A1", "ends too early"),
        ("<worksheet><sheetData/></worksheet><", "ends too early"),
        ("", "ends too early"),
        ("<chartsheet/>", "not the kind of part"),
        ("<worksheet/><worksheet/>", "not the kind of part"),
        ("<worksheet></worksheet></worksheet>", "not well formed"),
        ("<worksheet><sheetData><row><c r=A1><v>1</v></c></row></sheetData></worksheet>", "not well formed"),
        ("<worksheet><sheetData><row><c r><v>1</v></c></row></sheetData></worksheet>", "not well formed"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><worksheet/>", "document type"),
        ("<worksheet><sheetData><row><c t='str'><v>&a;</v></c></row></sheetData></worksheet>", "character"),
        ("<worksheet><sheetData><row><c t='str'><v>&#0;</v></c></row></sheetData></worksheet>", "character"),
        ("<worksheet><sheetData><row><c t='str'><v>&#xD800;</v></c></row></sheetData></worksheet>", "character"),
        ("<worksheet><sheetData><row><c t='str'><v>&#x110000;</v></c></row></sheetData></worksheet>", "character"),
        (b"<worksheet><sheetData><row><c t='str'><v>\xff</v></c></row></sheetData></worksheet>", "UTF-8"),
        (
            b"<worksheet><sheetData><row><c t='str'><v>\xc3</v></c><c t='str'><v>\xa9</v></c></row></sheetData>"
            b"</worksheet>",
            "UTF-8",
        ),
        ("<worksheet><sheetData><row r='x'/></sheetData></worksheet>", "address"),
        (
            "<worksheet><sheetData><row><c><f t='shared' si='99999999'/></c></row></sheetData></worksheet>",
            "shared formulas",
        ),
    ],
)
def test_broken_xml_is_refused(
    zipped: Made, parts_of: Callable[..., dict[str, str | bytes]], xml: str | bytes, hint: str
) -> None:
    with pytest.raises(ParseFailed, match=hint):
        read(zipped(parts_of([xml])))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "iso-8859-1"])
def test_other_encodings(zipped: Made, parts_of: Callable[..., dict[str, str | bytes]], encoding: str) -> None:
    declared = "utf-16" if "16" in encoding else encoding.removesuffix("-sig")
    xml = (
        f"<?xml version='1.0' encoding='{declared}'?><worksheet><sheetData><row><c t='str'><v>é</v></c></row>"
        f"</sheetData></worksheet>"
    )
    assert only(zipped(parts_of([xml.encode(encoding)]))).value(0, 0) == "é"


@pytest.mark.parametrize("encoding", ["utf-7", "ebcdic-cp-us", "utf-32", "rot13"])
def test_odd_encodings_are_refused(
    zipped: Made, parts_of: Callable[..., dict[str, str | bytes]], encoding: str
) -> None:
    with pytest.raises(ParseFailed, match="encoding"):
        read(zipped(parts_of([f"<?xml version='1.0' encoding='{encoding}'?><worksheet/>"])))


def scanner(*, store: bool = True, slots_max: int = 10_000, shared: SharedStrings | None = None) -> SheetScanner:
    return SheetScanner(
        "Sheet 'x'",
        shared=shared,
        style_formats=np.zeros(1, np.uint16),
        style_dates=np.zeros(1, np.uint8),
        rich_errors=np.empty(0, np.int8),
        slots_max=slots_max,
        slots_used=0,
        date_1904=False,
        iso_serial=iso_serial,
        store=store,
    )


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 20))
def test_numbers_read_as_python_reads_them(number: float, digits: int) -> None:
    texts = [repr(number), f"{number:.17g}", f"{number:.{digits}e}", f"{number:.15g}"]
    scan = scanner()
    cells = "".join(f"<c><v>{text}</v></c>" for text in texts)
    scan.feed(f"<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>".encode())
    scan.finish()
    for text, column in zip(texts, scan.columns(), strict=True):
        assert column is not None
        expected = float(text)
        if math.isinf(expected):
            assert column[1][0] == Kind.ERROR
        else:
            assert column[2][0].hex() == expected.hex(), text


@given(st.integers(0, 10**19), st.integers(-40, 40))
def test_long_numbers_read_as_python_reads_them(digits: int, power: int) -> None:
    """Nineteen digits and the powers around them.

    The border between the quick roads and the slow one.
    """
    text = f"{digits}e{power}"
    scan = scanner()
    scan.feed(f"<worksheet><sheetData><row><c><v>{text}</v></c></row></sheetData></worksheet>".encode())
    scan.finish()
    (column,) = scan.columns()
    assert column is not None
    assert column[2][0] == float(text)


WHOLE = (
    '<?xml version="1.0"?><!-- <c> --><worksheet a="b>c"><dimension ref="A1:C4"/><sheetData><row r="1"><c r="A1" '
    't="str"><f>A2&amp;"x"</f>'
    '<v>é&lt;_x0041_</v></c><c r="B1"><v>12.25</v></c><c r="C1" t="inlineStr"><is><r><t>a</t></r><rPh><t>no</t></rPh>'
    "<r><t>b</t></r></is></c>"
    '</row><row r="3" hidden="1"><c r="B3"><f t="shared" ref="B3:B4" si="0">A3</f><v><![CDATA[5]]></v></c></row><?pi?>'
    '<row r="4"><c r="B4"><f t="shared" si="0"/>'
    '<v>6</v></c></row></sheetData><autoFilter ref="A1:B4"><filterColumn colId="0"/></autoFilter>'
    '<mergeCells><mergeCell ref="A1:A2"/></mergeCells></worksheet>'
).encode()


def scanned(chunks: list[bytes]) -> tuple[object, ...]:
    scan = scanner()
    for chunk in chunks:
        scan.feed(chunk)
    scan.finish()
    columns = [None if c is None else tuple(part.tolist() for part in c) for c in scan.columns()]
    rows, at, texts, origins, (offsets, data), arrays, dynamic, ordered = scan.formulas()
    formulas = (
        rows.tolist(),
        at.tolist(),
        texts.tolist(),
        origins.tolist(),
        offsets.tolist(),
        data.tobytes(),
        arrays,
        dynamic,
        ordered,
    )
    text = [part.tolist() for part in scan.text()]
    rows = scan.hidden_rows(), scan.filtered
    return columns, text, formulas, rows, scan.merged_ranges(), scan.extent, scan.dimension


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, len(WHOLE)])
def test_the_cut_of_the_input_does_not_matter(size: int) -> None:
    assert scanned([WHOLE[at : at + size] for at in range(0, len(WHOLE), size)]) == scanned([WHOLE])


@settings(max_examples=300)
@given(st.data())
def test_spoiled_input_is_read_or_refused_never_worse(data: st.DataObject) -> None:
    """Bytes changed, dropped and doubled anywhere.

    The answer is columns or ParseFailed.
    """
    spoiled = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(spoiled) - 1))
        spoiled[at : at + data.draw(st.integers(0, 8))] = data.draw(
            st.sampled_from([b"", b"<", b">", b"&", b"\xff", b"</c>", b"<c>", b"<f>", b'"', b"<is>"])
        )
    with suppress(ParseFailed):
        scanned([bytes(spoiled[:50]), bytes(spoiled[50:])])


def test_the_limit_of_slots_is_that_of_the_spans() -> None:
    def feed(store: bool, first: int, last: int) -> None:
        cells = f'<c r="A{first}"><v>1</v></c><c r="A{last}"><v>1</v></c>'
        scan = scanner(store=store, slots_max=10)
        scan.feed(f"<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>".encode())
        scan.finish()

    for store in (True, False):
        feed(store, 5, 14)
        feed(store, 14, 5)
        with pytest.raises(ParseFailed, match="limit of 10"):
            feed(store, 5, 15)
        with pytest.raises(ParseFailed, match="limit of 10"):
            feed(store, 15, 5)


def test_a_piece_past_the_limit_is_refused() -> None:
    scan = scanner()
    scan.feed(b"<worksheet><sheetData><row><c t='str'><v>")
    scan.feed(b"x" * 1024 * 1024)
    with pytest.raises(ParseFailed, match="longer than the limit"):
        scan.feed(b"x" * 16 * 1024 * 1024)


def test_rows_in_falling_order_cost_linear_time() -> None:
    """200,000 rows from the last to the first.

    Growing downwards by one row at a time would move 300 GB.
    """
    scan = scanner(slots_max=1_000_000)
    rows = "".join(f'<c r="A{row}"><v>{row}</v></c>' for row in range(200_000, 0, -1))
    scan.feed(f"<worksheet><sheetData>{rows}</sheetData></worksheet>".encode())
    scan.finish()
    (column,) = scan.columns()
    assert column is not None
    assert column[2].tolist() == list(range(1, 200_001))


@pytest.mark.parametrize(
    ("xml", "hint"),
    [
        ("<sst><si><t>a</t></si>", "too early"),
        ("<other/>", "kind of part"),
        ("<!DOCTYPE a><sst/>", "document type"),
        ("<sst></sst></sst>", "well formed"),
        ("<sst><si><t>&b;</t></si></sst>", "character"),
    ],
)
def test_broken_shared_strings_are_refused(xml: str, hint: str) -> None:
    def read_strings() -> None:
        strings = SharedStrings()
        strings.feed(xml.encode())
        strings.finish()

    with pytest.raises(ParseFailed, match=hint):
        read_strings()


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_shared_strings_in_any_cut(size: int) -> None:
    strings = SharedStrings()
    data = STRINGS.encode()
    for at in range(0, len(data), size):
        strings.feed(data[at : at + size])
    strings.finish()
    assert strings.strings() == STRING_VALUES
    assert len(strings) == len(STRING_VALUES)
