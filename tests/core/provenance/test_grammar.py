"""A part is held against its list.

What each element may have is taken, and all else is a finding.
"""

from __future__ import annotations

from core.provenance.finding import Findings
from core.provenance.grammar import TABLE, check_part
from tests.rows import every

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
FORMULA = "<{0}>SUM(Loans[Par])</{0}>"
TOTALS, CALCULATED = FORMULA.format("totalsRowFormula"), FORMULA.format("calculatedColumnFormula")


def statuses(columns: str, *, behind: str = "", is_free: bool = False) -> list[str]:
    """Return the findings of a table with these columns."""
    data = f'<table xmlns="{MAIN}" id="1" name="Loans"><tableColumns count="2">{columns}</tableColumns>{behind}</table>'
    findings = Findings()
    check_part(data.encode(), TABLE, findings, "xl/tables/table1.xml", sheet="Loans", is_free=is_free)
    assert all((finding.part, finding.sheet) == ("xl/tables/table1.xml", "Loans") for finding in findings.items)
    return [finding.status for finding in findings.items]


def column(content: str) -> str:
    return f'<tableColumn id="1" name="Par" totalsRowFunction="custom">{content}</tableColumn>'


@every(
    "columns, expected",
    [
        ('<tableColumn id="1" name="Id"/>' + column(""), []),
        (column(TOTALS), []),
        (column(CALCULATED), []),
        (column(CALCULATED + TOTALS), []),
        (column(TOTALS) + column(TOTALS), []),  # once in each column
        (column(TOTALS + TOTALS), ["invalid_provenance"]),
        (column(CALCULATED + CALCULATED), ["invalid_provenance"]),
        (column("SUM(Loans[Par])"), ["invalid_provenance"]),  # a text where none is
        (column("<totalsRowFormula>SUM(<b/>)</totalsRowFormula>"), ["modified"]),
        (column("<xmlColumnPr/>"), ["modified"]),
        (column('<y:totalsRowFormula xmlns:y="urn:y">1</y:totalsRowFormula>'), ["invalid_provenance"]),
        (column("<!-- 1 -->"), ["invalid_provenance"]),
        (column(TOTALS.replace(">", ' y:x="1" xmlns:y="urn:y">', 1)), ["invalid_provenance"]),
        (column("<totalsRowFormula>"), ["invalid_provenance"]),
    ],
)
def test_a_tables_columns(columns: str, expected: list[str]) -> None:
    assert statuses(columns) == expected


def test_what_stands_behind_the_columns() -> None:
    assert statuses("", behind='<tableStyleInfo name="Light" showRowStripes="1"/>') == []
    assert statuses("", behind="<tableStyleInfo/><tableStyleInfo/>") == ["invalid_provenance"]
    assert statuses("", behind='<extLst><ext uri="{504A1905-F514-4F6F-8877-14C23A59335A}"/></extLst>') == []
    assert statuses("", behind='<extLst><ext uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}"/></extLst>') == ["modified"]


def test_what_an_export_does_not_cover_may_have_more() -> None:
    """But nothing that programs read differently."""
    assert statuses(column("<xmlColumnPr/>"), is_free=True) == []
    assert statuses(column("<xmlColumnPr><y>text</y></xmlColumnPr>"), is_free=True) == []
    assert statuses(column(TOTALS + TOTALS), is_free=True) == ["invalid_provenance"]
