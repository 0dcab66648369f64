"""Whole exports: what the files hold, what is told of them, and that nothing leaves that should not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import openpyxl
import pikepdf
import pytest

from core.compliance.run import run_suite
from core.export.compliance import compliance_rows
from core.export.order import ComplianceRow, ExportError, ExportOrder, ExportProduct, Keys, Lineage, Options
from core.export.run import export_workbook
from core.export.seal import self_signed
from core.files.read import read
from core.files.write import Formula, write_workbook_rows
from core.generate import generate
from core.grid.calculation import DEFAULT
from core.grid.sheet import Sheet, Table, Workbook
from core.portfolio import Portfolio
from core.provenance.manifest import read_manifest
from core.provenance.verify import Record, verify
from core.recalc.book import Book
from tests.hand_made import data_table, write_book
from tests.rows import every

CREATED = datetime(2026, 11, 23, 8, tzinfo=UTC)
KEY = b"k" * 32
PASS = ComplianceRow(
    test_id="a", name="Largest obligor", category="concentration", status="pass", value=2.0, limit=2.5, cushion=0.5
)
ORDER = ExportOrder(
    format="xlsx", export_id="exp_1", workbook_id="wb_1", tenant_id="t_1", created=CREATED,
    lineage=Lineage(workbook_name="Deal", file_name="deal.xlsx", source_hash="5" * 64, as_of=date(2026, 3, 31)),
    keys=Keys(signing=KEY, redaction=KEY), compliance=(PASS,),
)  # fmt: skip


def ordered(*, options: dict[str, Any] | None = None, **changes: Any) -> ExportOrder:
    return msgspec.structs.replace(ORDER, options=Options(**(options or {})), **changes)


@pytest.fixture(scope="module")
def deal(tmp_path_factory: pytest.TempPathFactory) -> Workbook:
    path = tmp_path_factory.mktemp("deal") / "deal.xlsx"
    generate(loans=200, seed=7, messy=("title_rows", "totals_row", "error_cells", "blanks")).write(path)
    return read(path)


def test_figures_and_sheets_of_any_size_are_exported(tmp_path: Path) -> None:
    """Sums past the largest number and cells past what a formula reads at once are told, the others compared."""
    path = tmp_path / "book.xlsx"
    book = openpyxl.Workbook()
    for row in (["x", "y"], *([1.7e308, 2.0],) * 3):
        book.active.append(row)
    book.create_sheet("Far").cell(700_000, 30, 1.0)
    book.save(path)
    control = read(tmp_path / export_workbook(read(path), ordered(), tmp_path).main.path)["Control"]
    answer = {(control.value(row, 0), control.value(row, 1)): control.value(row, 6) for row in range(control.row_count)}
    compared = [("Sheet", "Sum of y"), ("Sheet", "Cells filled"), ("Far", "Cells filled")]
    assert [answer.get(key) for key in compared] == ["OK"] * 3
    assert ("Sheet", "Sum of x") not in answer


def labelled(sheet: Sheet, value_column: int = 1) -> dict[str, object]:
    """What stands beside each label of the first column.

    The first of those with one name.
    """
    result: dict[str, object] = {}
    for row in range(sheet.row_count):
        label = sheet.value(row, 0)
        if isinstance(label, str):
            result.setdefault(label, sheet.value(row, value_column))
    return result


def parts(path: Path) -> Iterator[bytes]:
    """Every byte of a file, unpacked."""
    data = path.read_bytes()
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name.encode() + b"\n" + archive.read(name)
    elif data[:4] == b"%PDF":
        with pikepdf.open(io.BytesIO(data)) as opened:
            for item in opened.objects:
                yield item.read_bytes() if isinstance(item, pikepdf.Stream) else repr(item).encode()
    else:
        yield data


def test_the_zones_hold_the_sheets_and_what_they_add_up_to(deal: Workbook, tmp_path: Path) -> None:
    """The figures of Workspace and Control are those of the portfolio and the run, worked out apart from the sheets."""
    portfolio = Portfolio.from_workbook(deal)
    results = run_suite(portfolio, "enhanced")
    order = ordered(compliance=compliance_rows(results, results.skipped))
    exported = export_workbook(deal, order, tmp_path)
    outcome = read(tmp_path / exported.main.path)
    assert [sheet.name for sheet in outcome.sheets] == [*(sheet.name for sheet in deal.sheets), "Workspace", "Control"]
    for sheet in deal.sheets:
        for row in range(sheet.row_count):
            for column in range(sheet.column_count):
                place = sheet.name, row, column
                assert outcome[sheet.name].value(row, column) == sheet.value(row, column), place
                assert outcome[sheet.name].formula(row, column) == sheet.formula(row, column), place

    par, prices = portfolio.numbers["par_value"], portfolio.numbers["price"]
    spread = portfolio.numbers["spread"]
    workspace = labelled(outcome["Workspace"])
    has = ~np.isnan(prices)
    figures = {
        "Loans": portfolio.row_count,
        "Total par": par.sum(),
        "Par as it was counted": par.sum(),
        "Largest loan": par.max() / par.sum(),
        "Weighted average spread": (par * spread)[~np.isnan(spread)].sum() / par[~np.isnan(spread)].sum(),
        "Market value": (par * prices)[has].sum() / 100,
    }
    for label, figure in figures.items():
        assert workspace[label] == pytest.approx(figure, rel=1e-12), label
    ratings = portfolio.names["rating_agency_a"]
    for rating in ("B1", "B2", "Caa1"):
        rows = ratings.codes == list(ratings.values).index(rating)
        assert workspace[rating] == pytest.approx(par[rows].sum()), rating
    shares = labelled(outcome["Workspace"], 2)
    assert shares["Par as it was counted"] == "OK"

    control = outcome["Control"]
    assert labelled(control)["Checks"] == "OK"
    assert labelled(control, 2)["Compliance"] == "{fail} fail, {warning} warning, {pass} pass".format(
        **{word: [item.status for item in results].count(word) for word in ("fail", "warning", "pass")}  # type: ignore[arg-type]
    )
    statuses, cushions = labelled(control, 6), labelled(control, 4)
    for result in results:
        unit = " (%)" if result.test_name + " (%)" in statuses else ""
        name = result.test_name + unit if unit else next(key for key in statuses if key.startswith(result.test_name))
        assert statuses[name] == result.status, name
        assert cushions[name] == pytest.approx(result.cushion, abs=2e-6), name
    again = run_suite(Portfolio.from_workbook(outcome), "enhanced")
    assert [(item.test_id, item.current_value) for item in again] == [
        (item.test_id, item.current_value) for item in results
    ]


@every(
    "row, status, is_formula",
    [
        (PASS, "pass", True),
        (msgspec.structs.replace(PASS, status="warning"), "warning", True),
        (msgspec.structs.replace(PASS, status="fail", value=2.6, cushion=-0.1), "fail", True),
        (msgspec.structs.replace(PASS, status="fail", value=2.5, cushion=0.0), "fail", False),
        (msgspec.structs.replace(PASS, status="pass", value=2.5, cushion=0.0), "pass", True),
        (msgspec.structs.replace(PASS, threshold_type="min", value=2.4, status="fail"), "fail", True),
        (msgspec.structs.replace(PASS, threshold_type="exact", value=2.5, status="pass"), "pass", True),
        (msgspec.structs.replace(PASS, threshold_type="exact", value=2.4, status="fail"), "fail", True),
    ],
)
def test_a_status_is_the_run_s_and_follows_the_figures(
    tmp_path: Path, row: ComplianceRow, status: str, is_formula: bool
) -> None:
    book = Book.from_columns({"S": {"A": ["Id", "x"]}})
    export_workbook(Workbook(book.sheets), ordered(compliance=(row,)), tmp_path)
    control = read(tmp_path / "export.xlsx")["Control"]
    at = next(at for at in range(control.row_count) if control.value(at, 0) == row.name)
    assert (control.value(at, 6), control.formula(at, 6) is not None) == (status, is_formula)
    live = Book(read(tmp_path / "export.xlsx"))
    live.set("Control", f"C{at + 1}", {"max": 9.0, "min": -9.0, "exact": 9.0}[row.threshold_type])
    live.recalculate()
    assert live.value("Control", f"G{at + 1}") == "fail"
    assert live.value("Control", "B5") == "fail"


@every(
    "options",
    [
        {},
        {"xlsx_three_zone": False},
        {"xlsx_include_styles": False, "xlsx_freeze_header": False, "xlsx_auto_width": False},
        {"sanitize_pii": False},
        {"redaction_strategy": "hash"},
        {"redaction_strategy": "remove", "classification_threshold": "public"},
    ],
)
def test_a_file_is_verified_as_it_was_exported(deal: Workbook, tmp_path: Path, options: dict[str, Any]) -> None:
    exported = export_workbook(deal, ordered(options=options), tmp_path)
    provenance = exported.result_summary.provenance
    assert exported.fingerprints is not None
    record = Record(provenance.data_hash, (tmp_path / exported.fingerprints.path).read_bytes(), KEY)
    verdict = verify(tmp_path / exported.main.path, {"": KEY}, record)
    assert verdict.status == "original", verdict.reason
    assert verdict.hmac_valid
    manifest = verdict.manifest
    assert manifest is not None
    assert (manifest.export_id, manifest.source_hash, manifest.created_at) == ("exp_1", "5" * 64, CREATED.isoformat())
    assert manifest.hash_scope == provenance.hash_scope
    assert provenance.hash_scope == ("validated" if "xlsx_three_zone" in options else "foundation")
    touched = Book(read(tmp_path / exported.main.path))
    touched.set("Tranches", "C3", 1.0)
    changed = verify(tmp_path / exported.main.path, {"": KEY}, record, book=touched)
    assert [(diff.sheet, diff.cell) for diff in changed.diffs] == [("Tranches", "C3")]


def test_formulas_that_the_writer_leaves_out_are_not_hashed(tmp_path: Path) -> None:
    """Of tables, filters, other files, newer functions.

    The file is verified, and what was dropped is told once.
    """
    table = Table("Loans", "S", 0, 0, 2, 1, ("Id", "Par"))
    cells = [
        "=SUM(Loans[Par])", "=Loans[[#This Row],[Par]]*2", "=SUBTOTAL(109,B2:B3)", "=LET(x,2,x*2)",
        "=XLOOKUP(1,B:B,B:B)", "='[1]Far'!A1", "=Gone!A1", "=[@Par]", "=SUM(B2:B3)",
        "=CONCAT(A1:A2)", '=IF(B2>0,"a\x01",1)',
    ]  # fmt: skip
    result = Book.from_columns({"S": {"A": ["Id", "a", "b"], "B": ["Par", 1.0, 2.0], "C": cells}}, tables=(table,))
    result.recalculate()
    sheet = replace(result.sheets[0], filtered=True, hidden_rows=np.array([1], np.int32))
    exported = export_workbook(Workbook((sheet,), tables=(table,)), ORDER, tmp_path)
    verdict = verify(tmp_path / "export.xlsx", {"": KEY})
    assert verdict.status == "original", verdict.diffs
    back = read(tmp_path / "export.xlsx")["S"]
    kept = [row for row in range(len(cells)) if back.formula(row, 2) is not None]
    assert exported.result_summary.formulas_dropped == len(cells) - len(kept)
    assert {0, 1, 4, 8, 9} <= set(kept)
    assert not {2, 5, 6, 10} & set(kept)
    assert len([text for text in exported.result_summary.warnings if "ormula" in text]) == 1


def test_formulas_that_were_never_calculated_are_told(tmp_path: Path) -> None:
    """No count is promised that a spreadsheet changes as it opens the file.

    Control says CHECK before and after.
    """
    path = tmp_path / "in.xlsx"
    rows = [["Id", "Par", "Twice"], *([f"LX{at}", at * 1e6, Formula(f"B{at + 1}*2")] for at in range(1, 5))]
    write_workbook_rows(path, {"Raw": rows, "Fine": [["a", Formula("1+1", 2.0)]]})
    exported = export_workbook(read(path), ORDER, tmp_path)
    (answer,) = exported.result_summary.warnings
    assert "never calculated, whose cells have no value here: 4." in answer
    result = read(tmp_path / "export.xlsx")
    live = Book(result)
    live.recalculate()
    control = result["Control"]
    assert labelled(control)["Checks"] == live.value("Control", "B4") == "CHECK"
    results = {
        (control.value(row, 0), control.value(row, 1)): control.value(row, 6) for row in range(control.row_count)
    }
    assert results["Raw", "Formulas never calculated"] == "CHECK"
    assert results["Raw", "Sum of Par"] == results["Fine", "Cells filled"] == "OK"
    assert ("Raw", "Cells filled") not in results


PERSONAL = "jane.roe@example.com"


@pytest.mark.parametrize("file_format", ["xlsx", "csv", "json", "pdf"])
def test_personal_data_is_in_no_byte(tmp_path: Path, file_format: str) -> None:
    """In cells, headings, formulas, names of sheets and all that the order says."""
    rows = [["LoanX ID", "Borrower", "Contact", PERSONAL], ["LX1", f"Acme ({PERSONAL})", PERSONAL, 1.0]]
    write_workbook_rows(tmp_path / "in.xlsx", {f"By {PERSONAL[:20]}": rows, "Plain": [["a"], [f"ask {PERSONAL}"]]})
    book = read(tmp_path / "in.xlsx")
    lineage = Lineage(
        workbook_name=f"Deal of {PERSONAL}", file_name=f"{PERSONAL}.xlsx", warnings=(f"ask {PERSONAL}",),
        mapping=PERSONAL, definition=PERSONAL,
    )  # fmt: skip
    row = msgspec.structs.replace(PASS, name=f"Test by {PERSONAL}", reason=PERSONAL)
    sealed = {"xlsx_sealed_pdf": True}
    keys = msgspec.structs.replace(ORDER.keys, certificate=self_signed("Cushion", CREATED))
    order = ordered(format=file_format, lineage=lineage, compliance=(row,), options=sealed, keys=keys)
    folder = tmp_path / "out"
    folder.mkdir()
    exported = export_workbook(book, order, folder)
    for path in folder.iterdir():
        for part in parts(path):
            assert b"jane" not in part, (path.name, part[:300])
    assert "jane" not in repr(exported)
    counts = exported.result_summary.redacted["email"]
    assert sum(counts.values()) >= 5
    order = ordered(format=file_format, lineage=lineage, options={"sanitize_pii": False})
    kept = export_workbook(book, order, folder)
    assert kept.result_summary.redacted == {}
    if file_format != "pdf":  # whose text is written glyph by glyph
        assert any(b"jane" in part for part in parts(folder / kept.main.path))


@pytest.mark.parametrize("file_format", ["xlsx", "csv", "json"])
def test_what_a_sheet_left_out_says_of_a_value_counts(tmp_path: Path, file_format: str) -> None:
    """A name is known as personal by its heading on a sheet that is not exported.

    Only the exported one is told of.
    """
    cells = {"Contacts": {"A": ["Issuer", "Acme"], "B": ["Contact", "Jane Doe"]},
             "Sums": {"A": ["Note", "=Contacts!B2"], "B": ["x", PERSONAL]}}  # fmt: skip
    result = Book.from_columns(cells)
    result.recalculate()
    assert result.value("Sums", "A2") == "Jane Doe"
    order = ordered(format=file_format, sheets=("sums",))
    exported = export_workbook(Workbook(result.sheets), order, tmp_path)
    assert not [path for path in tmp_path.iterdir() for part in parts(path) if b"Jane" in part or b"Doe" in part]
    assert exported.result_summary.redacted == {"email": {"Sums!B": 1}, "person": {"Sums!A": 1}}
    assert exported.result_summary.redacted_formulas == 1


def test_texts_that_look_like_formulas_are_guarded_in_csv(tmp_path: Path) -> None:
    write_workbook_rows(tmp_path / "in.xlsx", {"S": [["Name"], ["=cmd|x"], ["+1"], ["@a"], ["-5.25"], [-5.25], ["ok"]]})
    book = read(tmp_path / "in.xlsx")
    exported = export_workbook(book, ordered(format="csv", options={"csv_delimiter": ";"}), tmp_path)
    text = (tmp_path / exported.main.path).read_text("utf-8-sig")
    assert "'=cmd|x" in text
    assert exported.result_summary.guarded == 3
    assert exported.result_summary.warnings[0].endswith("no spreadsheet calculates them: 3.")
    export_workbook(book, ordered(), tmp_path)
    assert read(tmp_path / "export.xlsx")["S"].value(1, 0) == "=cmd|x"
    assert read(tmp_path / "export.xlsx")["S"].formula(1, 0) is None


@pytest.mark.parametrize("file_format", ["xlsx", "csv", "json", "pdf"])
def test_the_same_order_gives_the_same_bytes(deal: Workbook, tmp_path: Path, file_format: str) -> None:
    keys = msgspec.structs.replace(ORDER.keys, certificate=self_signed("Cushion", CREATED))
    order = ordered(format=file_format, keys=keys, options={"xlsx_sealed_pdf": True}, sheets=("deal", "Tranches"))
    answer: list[tuple[str, int, int]] = []
    result: list[tuple[ExportProduct, dict[str, bytes]]] = []
    for name in "ab":
        (tmp_path / name).mkdir()
        exported = export_workbook(deal, order, tmp_path / name, lambda *phase: answer.append(phase))
        result.append((exported, {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}))
    assert result[0] == result[1]
    exported, files = result[0]
    named = [item for item in (exported.main, exported.sealed, exported.fingerprints) if item is not None]
    assert {item.path: item.size_bytes for item in named} == {name: len(data) for name, data in files.items()}
    assert exported.result_summary.sheets == ("Tranches", "Deal")
    assert exported.main.name == ("Deal.zip" if file_format == "csv" else f"Deal.{file_format}")
    assert (exported.sealed is not None) == (file_format == "xlsx")
    run = answer[: len(answer) // 2]
    assert [at for _, at, _ in run] == list(range(len(run)))
    assert {count for _, _, count in run} == {len(run)}
    if file_format == "xlsx":
        whole = ["Redacting", "Hashing", "Reading loans", "Setting pages", "Sealing", "Writing"]
        assert [phase for phase, _, _ in run] == whole


def test_an_export_ends_where_its_progress_says_so(deal: Workbook, tmp_path: Path) -> None:
    def stop(phase: str, current: int, total: int) -> None:
        if phase == "Writing":
            raise InterruptedError

    with pytest.raises(InterruptedError):
        export_workbook(deal, ORDER, tmp_path, stop)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_taken_and_sheets_without_loans(tmp_path: Path) -> None:
    sheets = {"workspace": [["a", "b"], [1.0, 2.0]], "Control": [["=1+1"]], "Bare": []}
    write_workbook_rows(tmp_path / "in.xlsx", sheets)
    export_workbook(read(tmp_path / "in.xlsx"), ordered(compliance=()), tmp_path)
    result = read(tmp_path / "export.xlsx")
    assert [sheet.name for sheet in result.sheets] == [*sheets, "Workspace (2)", "Control (2)"]
    control = labelled(result["Control (2)"])
    assert (control["Checks"], control["Compliance"]) == ("OK", "no run")
    manifest = read_manifest(tmp_path / "export.xlsx")
    assert manifest is not None
    assert manifest.manifest.beside == ("Workspace (2)", "Control (2)")


def test_par_that_holds_more_than_loans_is_told(tmp_path: Path) -> None:
    """Two sections with totals between them.

    The column adds up to more than the loans, and the Workspace says so.
    """
    head = ["Issuer Name", "LoanX ID", "Par Amount", "Maturity Date", "Spread"]
    loans = [[f"Obligor {at}", f"LX00000{at}", 1_000_000.0 * at, date(2030, 1, at), 350.0] for at in range(1, 7)]
    rows = [head, *loans[:3], ["Total", None, 6_000_000.0, None, None], *loans[3:], ["Total", None, 15e6, None, None]]
    write_workbook_rows(tmp_path / "in.xlsx", {"Loans": rows})
    book = read(tmp_path / "in.xlsx")
    assert Portfolio.from_workbook(book).numbers["par_value"].sum() == 21e6
    export_workbook(book, ORDER, tmp_path)
    workspace = read(tmp_path / "export.xlsx")["Workspace"]
    assert labelled(workspace)["Total par"] == 27e6
    assert labelled(workspace)["Par as it was counted"] == 21e6
    assert labelled(workspace, 2)["Par as it was counted"] == "CHECK"


@every(
    "changes, words",
    [
        ({"sheets": ("Nope",)}, "no sheet 'Nope'"),
        ({"sheets": ()}, "at least one sheet"),
        ({"options": {"xlsx_sealed_pdf": True}}, "needs a certificate"),
        ({"options": {"redaction_strategy": "hash"}, "keys": Keys(signing=KEY, redaction=b"")}, "at least 16 bytes"),
        ({"keys": Keys(signing=b"short", redaction=KEY)}, "at least 16 bytes"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_words(
    deal: Workbook, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ExportError, match=words):
        export_workbook(deal, ordered(**changes), tmp_path)


def test_odd_sheet_names_are_quoted(tmp_path: Path) -> None:
    head = ["Issuer Name", "LoanX ID", "Par Amount", "Spread"]
    rows = [head, *([f"Obligor {at}", f"LX00000{at}", 100.0 * at, 300.0] for at in range(1, 5))]
    for name in ("It's '24", "2024", "A1", "R1C1", "TRUE", "a!b", "#REF", "Ünï (x) +1"):
        write_workbook_rows(tmp_path / "in.xlsx", {name: rows})
        exported = export_workbook(read(tmp_path / "in.xlsx"), ORDER, tmp_path)
        book = Book(read(tmp_path / exported.main.path))
        book.recalculate()
        assert labelled(book["Workspace"])["Total par"] == 1_000.0, name
        assert labelled(book["Control"])["Checks"] == "OK", name


def test_formulas_without_their_sheets_keep_their_values(tmp_path: Path) -> None:
    result = Book.from_columns({"A": {"A": ["=B!A1*2", "=1+1"]}, "B": {"A": [21.0]}})
    result.recalculate()
    exported = export_workbook(Workbook(result.sheets), ordered(sheets=("A",)), tmp_path)
    sheet = read(tmp_path / "export.xlsx")["A"]
    assert [(sheet.value(row, 0), sheet.formula(row, 0)) for row in range(2)] == [(42.0, None), (2.0, "1+1")]
    assert exported.result_summary.formulas_dropped == 1
    assert exported.result_summary.warnings[0].startswith("Formulas that read what is not exported")
    control = [read(tmp_path / "export.xlsx")["Control"].value(row, 0) for row in range(60)]
    assert any("Formulas that read what is not exported" in str(text) for text in control)


def test_settings_of_the_calculation_and_data_tables_leave_values_alone(tmp_path: Path) -> None:
    """Whoever opens the export sees the figures that were exported.

    Nothing in it calculates them otherwise.
    """
    cells: dict[str, Any] = {
        "A1": 2.0, "B1": ("=A1/3", "0.00"), "B3": "=B1", "A4": 5.0, "A5": 7.0,
        "B4": data_table("B4:B5", column_input="A1"), "B5": 0.0,
    }  # fmt: skip
    settings = 'iterate="1" iterateCount="50" iterateDelta="1E-05" fullPrecision="0"'
    for name, more, formulas in (("tables", {}, 2), ("settings", {"calculation": settings}, 0)):
        book = read(write_book(tmp_path / f"{name}.xlsx", cells, **more))
        path = tmp_path / export_workbook(book, ordered(), tmp_path).main.path
        result = read(path)
        assert result.calculation == DEFAULT
        assert (len(result["S"].formulas), len(result["S"].formulas.arrays)) == (formulas, 0)
        assert verify(path, {"": KEY}).status == "original"


@every(
    "rows, verdict, counts",
    [
        ("fail", "fail", "1 fail, 0 warning, 1 pass"),
        ("doubtful fail", "doubtful", "0 fail, 0 warning, 1 pass, 1 doubtful"),
        ("fail, doubtful fail", "fail", "1 fail, 0 warning, 1 pass, 1 doubtful"),
        ("doubtful pass", "doubtful", "0 fail, 0 warning, 1 pass, 1 doubtful"),
    ],
)
def test_a_doubtful_test_is_no_plain_failure_on_the_control_sheet(
    deal: Workbook, tmp_path: Path, rows: str, verdict: str, counts: str
) -> None:
    """The file's own figure, the difference and every doubt stand beside it."""
    doubts = tuple(f"interest of loan {at} is estimated" for at in range(40))
    failed = msgspec.structs.replace(PASS, test_id="b", name="Senior IC", status="fail", value=3.0, cushion=-0.5)
    answer = {"doubtful": True, "published": 1.75, "difference": 1.25, "published_status": "pass", "doubts": doubts}
    kinds = {
        "fail": failed,
        "doubtful fail": msgspec.structs.replace(failed, test_id="c", name="Junior IC", **answer),
        "doubtful pass": msgspec.structs.replace(PASS, test_id="d", name="Junior IC", **answer),
    }
    chosen = (PASS, *(kinds[name] for name in rows.split(", ")))
    control = read(tmp_path / export_workbook(deal, ordered(compliance=chosen), tmp_path).main.path)["Control"]
    assert (labelled(control)["Compliance"], labelled(control, 2)["Compliance"]) == (verdict, counts)
    assert labelled(control, 10)["Largest obligor"] is None
    if "doubtful" in rows:
        value = kinds[rows.split(", ")[-1]].value
        beside = [labelled(control, column)["Junior IC"] for column in (8, 9, 10)]
        assert beside == [1.75, value - 1.75, "doubtful"]
        assert {f"- {doubt}" for doubt in doubts} < set(labelled(control)), "no doubt is cut"
    exported = export_workbook(deal, ordered(compliance=chosen, format="pdf"), tmp_path)
    assert (tmp_path / exported.main.path).read_bytes().startswith(b"%PDF")
