"""LibreOffice as a witness.

It recalculates and rewrites a generated deal, and the readers see the same cells.
"""

from __future__ import annotations

import csv
import math
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from core.files.read import read
from core.files.write import BookSettings, Formats, FormattedValue, Formula, SheetPage, sheet_of, write_xlsx
from core.files.write.delimited import Dialect, write_csv
from core.generate import generate
from core.grid.sheet import Table, Workbook
from core.values import Kind


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deal") / "deal.xlsx"
    generate(loans=200, seed=11, messy=("title_rows", "totals_row", "error_cells", "blanks")).write(path)
    return path


def convert(path: Path, kind: str, folder: Path, *more: Path, opening: str | None = None) -> Path:
    """The file as LibreOffice saves it, and more of them with it.

    `opening` says how it reads them.
    """
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "these tests want LibreOffice Calc"
    subprocess.run(
        [
            program,
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless",
            *([f"--infilter={opening}"] if opening else []),
            "--convert-to",
            kind,
            "--outdir",
            folder,
            path,
            *more,
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    return folder / f"{path.stem}.{kind}"


def cells(book: Workbook) -> dict[tuple[str, int, int], object]:
    """Every cell that is not blank, dates as their serials."""
    result: dict[tuple[str, int, int], object] = {}
    for sheet in book.sheets:
        for row in range(sheet.row_count):
            for column in range(sheet.column_count):
                if sheet.kind(row, column) != Kind.BLANK:
                    result[sheet.name, row, column] = sheet.value(row, column)
    return result


@pytest.mark.parametrize("kind", ["xlsx", "xls"])
def test_same_cells_after_libreoffice(original: Path, tmp_path: Path, kind: str) -> None:
    ours, theirs = cells(read(original)), cells(read(convert(original, kind, tmp_path)))
    for place, value in ours.items():
        second = theirs.get(place)
        if isinstance(value, float):
            assert isinstance(second, float), (place, value, second)
            assert math.isclose(value, second, rel_tol=1e-12, abs_tol=1e-12), (place, value, second)
        elif kind == "xls" and isinstance(value, str) and value.startswith("#"):
            assert second in (value, None), (place, value, second)  # calamine gives no error cells of .xls
        else:
            assert second == value, (place, value, second)


def test_what_is_written_is_what_libreoffice_sees(tmp_path: Path) -> None:
    """Texts stay texts, a table and names keep their meaning, formulas calculate to what was written, and parts that
    it does not show are kept."""
    formats = Formats()
    texts = ["=1+1", "-1", "@a", "+2", "_x0041_", "<&>", "a\nb", "bell\x07", "x" * 32_767, " b "]
    loans = [
        ["Par", "Price", "Value"],
        *([100.0 * at, 99.5, Formula(f"A{at + 1}*B{at + 1}/100", 99.5 * at)] for at in (1, 2)),
    ]
    control = [
        ["Total", Formula("SUM(Held[Value])", 298.5), FormattedValue(Formula("Loans!C2/total", 1 / 3), "0.0%")],
        ["Status", Formula('IF(B1>200,"PASS","FAIL")', "PASS"), Formula("B1=298.5", True)],
        ["Without a value, which has all of them calculated", Formula("1+1")],
    ]
    pages = [
        SheetPage("Loans", sheet_of(loans, formats), header_row=0, frozen=(1, 0), protected=True),
        SheetPage("Control & <co>", sheet_of(control, formats), flags=[((1, 1, 1, 1), {"bad": ["FAIL"]})]),
        SheetPage("Texts", sheet_of([[text] for text in texts], formats, state="hidden")),
    ]
    path = tmp_path / "made.xlsx"
    written = write_xlsx(
        path,
        pages,
        number_formats=formats,
        tables=[Table("Held", "Loans", 0, 0, 2, 2, ("Par", "Price", "Value"))],
        settings=BookSettings(defined_names={"total": "'Control & <co>'!$B$1"}),
        parts={"urn:a": b'<a xmlns="urn:a">kept</a>'},
    )
    assert written.warnings == ()
    (tmp_path / "saved").mkdir()
    saved = convert(path, "xlsx", tmp_path / "saved")
    ours, theirs = read(path), read(saved)
    assert [cells(book)["Texts", row, 0] for book in (ours, theirs) for row in range(len(texts))] == texts * 2
    for place, value in cells(ours).items():
        other_cell = cells(theirs)[place]
        assert other_cell == (pytest.approx(value, rel=1e-14) if isinstance(value, float) else value), place
    assert theirs.sheets[1].value(2, 1) == 2.0
    assert [sheet.state for sheet in theirs.sheets] == ["visible", "visible", "hidden"]
    assert (theirs.defined_names, [table.name for table in theirs.tables]) == (ours.defined_names, ["Held"])
    with zipfile.ZipFile(saved) as archive:
        assert b'<a xmlns="urn:a">kept</a>' in archive.read("customXml/item1.xml")
        assert b"<sheetProtection" in archive.read("xl/worksheets/sheet1.xml")


HOSTILE = ["=1+1", " =1+1", "+1+1", "-1+1", "@SUM(A1)", '"=1+1"', "\t=1+1", "\n=1+1", "\uff1d1+1", "\u22121+1"]
HOSTILE += [f"a{between}=1+1" for between in (",", ";", "|", "\t", "\n", ";;", '; "', ",\n")]
HOSTILE += ["-", "x;-", '&"x"&', "-5.25", "x;-5", "A1", "SUM(A1)", "sep=;"]


def test_no_delimited_text_is_calculated(tmp_path: Path) -> None:
    """Whichever delimiter a file has, and whichever LibreOffice takes.

    It does calculate the same texts unguarded.
    """
    rows = [[first, second, -5.25] for first in HOSTILE for second in ("x", *HOSTILE)]
    paths = []
    for name, delimiter in {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "tilde": "~"}.items():
        paths.append(tmp_path / f"{name}.csv")
        with paths[-1].open("wb") as file:
            write_csv(file, sheet_of(rows, Formats()), ("General",), dialect=Dialect(delimiter=delimiter))
    plain = tmp_path / "plain.csv"
    with plain.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows(rows)
    for taken in ("44", "59", "9", "124", "44/59/9"):
        out = tmp_path / taken.replace("/", "-")
        out.mkdir()
        opening = f"CSV:{taken},34,76,1,,0,false,true,false,false,false,-1"
        convert(plain, "xlsx", out, *paths, opening=opening)
        counts = {path.stem: len(read(out / f"{path.stem}.xlsx").sheets[0].formulas) for path in [plain, *paths]}
        assert counts.pop("plain") > 0, taken
        assert set(counts.values()) == {0}, (taken, counts)
