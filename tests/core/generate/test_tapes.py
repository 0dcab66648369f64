"""Trustees' tapes: what the answers promise is what tape and book differ in, and each manner hides nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import stdnum.cusip
import stdnum.isin

from core.files.read import read
from core.generate import EDITS_MAX, MESSY, TRUSTEE_TAPES, GeneratedTape, GenerateError, generate, generate_tape
from core.generate.edits import EDITS
from core.generate.trustees import PAGE_LINES
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES

Loan = dict[str, Any]
Found = tuple[str, str, str]
Columns = dict[str, Any]

HARMLESS = {
    "par_up_half_a_cent", "rating_on_watch", "rating_said_none", "spread_up_10", "price_up_eighth", "index_respelt",
    "rate_up_5", "industry_respelt", "cusip_left_out", "identifiers_left_out", "split_in_lots",
}  # fmt: skip
TOLERANCES = {"price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 0.05}
UNRATED = {None, "NR", "***", "WR"}
INDEXES = {"3M SOFR": ("SOFR", 3), "TSFR3M": ("SOFR", 3), "1M SOFR": ("SOFR", 1), "SOFR": ("SOFR", None)}


# ---- the comparison again, plainly, from its description -----------------------------------------------------------


def loans_of(columns: Columns) -> list[Loan]:
    """The rows of some columns as plain loans, lots added up; blank is None."""
    plain = {}
    for field, column in columns.items():
        if isinstance(column, tuple):
            codes, values = column
            plain[field] = [None if code < 0 else values[code] for code in codes.tolist()]
        else:
            plain[field] = [None if value == "" or value != value else value for value in column.tolist()]
    loans: dict[Any, Loan] = {}
    for at, values in enumerate(zip(*plain.values(), strict=True)):
        loan = dict(zip(plain, values, strict=True))
        key = loan.get("cusip") or loan.get("loanx_id") or loan.get("isin") or at
        if key in loans:
            loans[key]["par_value"] += loan["par_value"]
        else:
            loans[key] = loan
    return list(loans.values())


def cusip_of(loan: Loan) -> str | None:
    isin: str | None = loan.get("isin")
    return loan.get("cusip") or (isin[2:11] if isin else None)


def name_key(name: str) -> str:
    words = name.upper().replace(".", "").replace("&", "AND").split()
    return " ".join(words[:-1])


def pairs_of(tape: list[Loan], book: list[Loan]) -> tuple[list[tuple[Loan, Loan]], list[Loan], list[Loan]]:
    pairs = []
    keys = (
        cusip_of,
        lambda loan: loan.get("loanx_id"),
        lambda loan: (name_key(loan["borrower_name"]), loan["maturity_date"]),
    )
    for key in keys:
        left = {key(loan): loan for loan in book if key(loan)}
        rest = []
        for loan in tape:
            second = left.pop(key(loan), None) if key(loan) else None
            if second is None:
                rest.append(loan)
            else:
                pairs.append((loan, second))
                book = [item for item in book if item is not second]
        tape = rest
    return pairs, tape, book


def missing(par: float) -> str:
    return "critical" if par > 1_000_000 else "error" if par >= 100_000 else "warning"


def identifier(*sides: Loan) -> str:
    for field in ("cusip", "loanx_id", "isin", "borrower_name"):
        for side in sides:
            if side.get(field):
                return str(side[field])
    raise AssertionError(sides)


def compared(trustee: Loan, internal: Loan) -> dict[str, str]:
    """Field -> severity of one pair."""
    result = {}
    off = round(abs(trustee["par_value"] - internal["par_value"]), 6)
    if off > 0.01:
        percent = off / trustee["par_value"] * 100.0
        result["par_value"] = "critical" if percent > 5.0 else "error" if percent >= 1.0 else "info"
    for field, tolerance in TOLERANCES.items():
        item, second = trustee[field], internal[field]
        if (item is None) != (second is None) or (item is not None and round(abs(item - second), 6) > tolerance):
            result[field] = "warning"
    for field in ("rating_agency_a", "rating_agency_b", "rating_agency_c"):
        item, second = trustee[field], internal[field]
        if item in UNRATED and second in UNRATED:
            if "WR" in (item, second):
                result[field] = "info"
        elif str(item).removesuffix(" *-") != str(second).removesuffix(" *-"):
            result[field] = "warning"
    if trustee["base_rate"] != internal["base_rate"]:
        item, second = (INDEXES.get(side["base_rate"], ("", 0)) for side in (trustee, internal))
        if item != second:
            result["base_rate"] = "info" if item[0] == second[0] and None in (item[1], second[1]) else "warning"
    words = [side["industry"].lower().replace("&", "and").replace(",", "") for side in (trustee, internal)]
    if words[0] != words[1]:
        result["industry"] = "warning"
    if trustee["borrower_name"] != internal["borrower_name"]:
        result["borrower_name"] = "info"
    for field in ("cusip", "loanx_id", "isin"):
        item, second = trustee.get(field), internal.get(field)
        if item and second and item != second:
            result[field] = "warning"
    return result


def naive(tape: Columns, book: Columns) -> Counter[Found]:
    pairs, theirs, ours = pairs_of(loans_of(tape), loans_of(book))
    result: Counter[Found] = Counter()
    for trustee, internal in pairs:
        name = identifier(trustee, internal)
        result.update((name, field, severity) for field, severity in compared(trustee, internal).items())
    result.update((identifier(loan), "missing_loan", missing(loan["par_value"])) for loan in (*theirs, *ours))
    return result


def promised(tape: GeneratedTape) -> Counter[Found]:
    return Counter((answer.identifier, answer.field, answer.severity) for answer in tape.discrepancies)


# ---- answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
@pytest.mark.parametrize(("loans", "seed", "edits"), [(200, 1, None), (200, 2, 3), (250, 3, 0), (1_500, 4, 20)])
def test_tape_and_book_differ_in_what_the_answers_say(trustee: str, loans: int, seed: int, edits: int | None) -> None:
    tape = generate_tape(generate(loans, seed), trustee, seed, edits)
    assert naive(tape.portfolio_columns(), tape.deal.portfolio_columns()) == promised(tape)
    assert bool(promised(tape)) == (edits != 0)


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
def test_every_kind_of_edit_is_made_as_often_as_asked(trustee: str) -> None:
    tape = generate_tape(generate(300, 7), trustee, edits=3)
    count = Counter(answer.edit for answer in tape.answers)
    assert set(count) == {edit.name for edit in EDITS} | {"unknown_loan"}
    swapped = count.pop("cusips_swapped")
    assert set(count.values()) == {3}
    assert swapped >= 6 * 4  # names, LoanX ids or prices; two loans hardly agree on more
    harmless = {answer.edit for answer in tape.answers if answer.severity == "none"}
    assert harmless == HARMLESS
    assert {answer.edit for answer in tape.discrepancies} == set(count) - HARMLESS | {"cusips_swapped"}


def test_an_edit_has_a_loan_of_its_own() -> None:
    tape = generate_tape(generate(2_000, 5), "trustee_b", edits=30)
    edits: dict[str, set[str]] = {}
    for answer in tape.answers:
        edits.setdefault(answer.identifier, set()).add(answer.edit)
    assert {len(kinds) for kinds in edits.values()} == {1}
    assert len(edits) == 30 * (len(EDITS) + 2)


def test_the_trustee_plays_no_part_in_which_loans_are_edited() -> None:
    deal = generate(200, 9)
    tapes = [generate_tape(deal, trustee, 9) for trustee in TRUSTEE_TAPES]
    first, *others = ([(answer.edit, answer.severity) for answer in tape.answers if answer.severity != "none"
                       and answer.edit != "cusips_swapped"] for tape in tapes)  # fmt: skip
    assert all(second == first for second in others)
    assert len({tape.deal.portfolio_columns()["par_value"].tobytes() for tape in tapes}) == 1  # type: ignore[union-attr]


def test_the_same_arguments_give_the_same_tape_and_others_another() -> None:
    deal = generate(200, 4)

    def bytes_of(seed: int, trustee: str = "trustee_a") -> tuple[bytes, str]:
        tape = generate_tape(deal, trustee, seed)
        par = tape.portfolio_columns()["par_value"]
        assert isinstance(par, np.ndarray)
        return par.tobytes(), repr(tape.answers)

    assert bytes_of(4) == bytes_of(4)
    assert bytes_of(4)[0] != bytes_of(5)[0]
    assert bytes_of(4)[1] != bytes_of(5)[1]


def test_the_given_deal_stays_as_it_was() -> None:
    deal = generate(200, 6)
    before = deal.book.par.copy()
    tape = generate_tape(deal, "trustee_c")
    assert np.array_equal(deal.book.par, before)
    assert set(np.flatnonzero(tape.deal.book.par != before).tolist()) == set(
        np.flatnonzero(np.isin(tape.deal.book.par, (50_000.0, 500_000.0)) & (before != tape.deal.book.par)).tolist()
    )
    assert {50_000.0, 500_000.0} <= set(tape.deal.book.par.tolist())


def test_answers_are_written_as_json(tmp_path: Path) -> None:
    tape = generate_tape(generate(200, 3), "trustee_b", 3)
    tape.write_answers(tmp_path / "answers.json")
    rows = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    assert [list(row) for row in rows] == [["identifier", "field", "severity", "edit"]] * len(tape.answers)
    assert [(row["identifier"], row["field"], row["severity"]) for row in rows] == [
        (answer.identifier, answer.field, answer.severity) for answer in tape.answers
    ]
    generate_tape(generate(200, 3), "trustee_b", 3, edits=0).write_answers(tmp_path / "answers.json")
    assert json.loads((tmp_path / "answers.json").read_text()) == []


def test_loans_that_only_their_name_tells_have_different_maturities() -> None:
    tape = generate_tape(generate(60_000, 3), "trustee_b", 3)
    texts, book = tape.deal.texts, tape.deal.book
    nameless = np.flatnonzero((texts.cusip == "") & (texts.loanx == ""))
    assert len(nameless) > 400
    keys = set(zip(book.obligor[nameless].tolist(), book.maturity[nameless].tolist(), strict=True))
    assert len(keys) == len(nameless)


def test_unknown_loans_have_identifiers_that_no_book_has() -> None:
    tape = generate_tape(generate(200_000, 2), "trustee_b", 2, edits=EDITS_MAX)
    known = tape.deal.portfolio_columns()
    unknown = {answer.identifier for answer in tape.answers if answer.edit == "unknown_loan"}
    assert len(unknown) == EDITS_MAX
    assert all(stdnum.cusip.is_valid(cusip) for cusip in unknown)
    assert not unknown & set(known["cusip"].tolist())  # type: ignore[union-attr]
    loans = [loan for loan in loans_of(tape.portfolio_columns()) if loan["cusip"] in unknown]
    assert len({loan["borrower_name"] for loan in loans} - set(tape.deal.texts.companies)) == EDITS_MAX
    assert len({loan["loanx_id"] for loan in loans} - set(tape.deal.texts.loanx.tolist())) == EDITS_MAX
    assert all(stdnum.isin.is_valid(loan["isin"]) and re.fullmatch(r"LX\d{6}", loan["loanx_id"]) for loan in loans)
    assert {loan["par_value"] for loan in loans} == {2_500_000.0}


@pytest.mark.parametrize(
    ("trustee", "options", "message"),
    [
        ("trustee_d", {}, "unknown trustee 'trustee_d': choose from trustee_a, trustee_b, trustee_c"),
        ("trustee_a", {"seed": -1}, "seed must be between 0 and"),
        ("trustee_a", {"edits": -1}, "edits must be between 0 and 1,000, not -1"),
        ("trustee_a", {"edits": EDITS_MAX + 1}, "edits must be between 0 and 1,000, not 1,001"),
        ("trustee_a", {"edits": 50}, "a book of 200 loans has not enough for 50 edits of every kind: ask for fewer"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_can(trustee: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(GenerateError, match=message):
        generate_tape(generate(200), trustee, **options)


# ---- trustees ------------------------------------------------------------------------------------------------------


def written(folder: Path, trustee: str, loans: int = 200, seed: int = 7) -> tuple[GeneratedTape, Path]:
    tape = generate_tape(generate(loans, seed), trustee, seed)
    path = folder / f"{trustee}.xlsx"
    tape.write(path)
    return tape, path


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    (page,) = openpyxl.load_workbook(path).worksheets
    return list(page.iter_rows(values_only=True))


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
@pytest.mark.parametrize("preferring", [True, False], ids=["own columns first", "as any tape"])
def test_a_written_tape_says_what_its_columns_say(tmp_path: Path, trustee: str, preferring: bool) -> None:
    tape, path = written(tmp_path, trustee)
    portfolio = Portfolio.from_workbook(read(path), TRUSTEES[trustee] if preferring else None)
    expected = Portfolio.from_columns(tape.portfolio_columns())
    assert portfolio.row_count == expected.row_count
    for field in ("par_value", "price", "spread", "floor", "all_in_rate", "maturity_date"):
        assert portfolio.numbers[field] == pytest.approx(expected.numbers[field], rel=1e-12, nan_ok=True), field
    for field in ("rating_agency_a", "rating_agency_b", "rating_agency_c"):
        assert np.array_equal(portfolio.ranks[field], expected.ranks[field]), field
    for field in ("cusip", "loanx_id", "isin", "borrower_name", "facility_name", "base_rate", "industry", "country"):
        if field in expected.names:
            assert texts(portfolio, field) == texts(expected, field), field
    for field in ("is_defaulted", "cov_lite"):
        assert np.array_equal(portfolio.flags[field], expected.flags[field]), field
    assert portfolio.notes.conflicting_lots == 0


def texts(portfolio: Portfolio, field: str) -> list[str | None]:
    names = portfolio.names.get(field)
    if names is None:
        return [None] * portfolio.row_count
    return [None if code < 0 else names.values[code] for code in names.codes.tolist()]


def test_trustee_a_prints_pages_under_a_header_in_two_lines(tmp_path: Path) -> None:
    tape, path = written(tmp_path, "trustee_a")
    rows = rows_of(path)
    assert rows[0][0] == "Sample CLO"
    assert (rows[4][0], rows[5][0], rows[4][3], rows[5][3]) == ("LoanX ID /", "CUSIP", "Principal", "Balance")
    footers = [at for at, row in enumerate(rows) if str(row[0]).startswith("©")]
    assert len(footers) == 1 + (tape.rows - 1) // PAGE_LINES
    assert rows[footers[0] + 1] == rows[4]
    assert rows[-2][0] == "Total Balance"
    assert rows[-2][3] == pytest.approx(sum(loan["par_value"] for loan in loans_of(tape.portfolio_columns())))
    assert len(rows) == tape.sheet().row_count
    lines = [row for row in rows if isinstance(row[3], float | int) and row[1]]
    assert len(lines) == tape.rows
    kinds = Counter(str(row[0])[:2] if str(row[0]).startswith(("LX", "US")) else row[0] and "cusip" for row in lines)
    assert min(kinds["LX"], kinds["US"], kinds["cusip"]) >= 5
    assert all(len(row[10]) == 11 and row[10][2] == row[10][6] == "-" for row in lines)
    assert sum("***" in row for row in lines) > 1
    assert sum(str(row[11]).endswith(" *-") for row in lines) > 1
    assert {row[18] for row in lines} == {"-", "Yes"}
    assert max(row[7] for row in lines if row[7] != "-") < 10.0


def test_trustee_b_prints_slices_bonds_and_padding(tmp_path: Path) -> None:
    tape, path = written(tmp_path, "trustee_b")
    header, *rows = rows_of(path)
    assert "LoanX_ID" in header
    assert all("_" in name or name in ("CUSIP", "ISIN", "FIGI", "Commitment") for name in header)
    column = {name: at for at, name in enumerate(header)}
    assert len(rows) > 1.4 * tape.rows
    assert {row[column["Deal_Name"]] for row in rows} == {"Sample CLO"}
    assert {row[column["As_Of_Date"]] for row in rows} == {"31-Mar-2026"}
    assert all(row[column["Maturity_Date"]][2::3][:2] == ".." for row in rows)
    bonds = [row for row in rows if row[column["Principal_Funded_Balance"]] == 0]
    assert bonds
    assert all(row[column["Commitment"]] > 0 and row[column["ISIN"]] and not row[column["LoanX_ID"]] for row in bonds)
    assert all(row[column["Moodys_Rating_Final"]].startswith(" ") for row in rows)
    assert {row[column["Cov_Lite"]] for row in rows} == {"Y", "N"}
    assert sum(row[column["Commitment"]] for row in rows) == pytest.approx(
        sum(loan["par_value"] for loan in loans_of(tape.portfolio_columns()))
    )


def test_trustee_c_prints_long_names_and_few_cusips(tmp_path: Path) -> None:
    tape, path = written(tmp_path, "trustee_c")
    header, *rows = rows_of(path)
    column = {name: at for at, name in enumerate(header)}
    assert "Deal Issue (Derived) Rating - Moody's" in column
    assert len(rows) == tape.rows
    assert sum(row[column["CUSIP"]] is None for row in rows) > 0.4 * len(rows)
    settled, traded = "Current Par Amount (Issue Currency) - Settled", "Par Amount (Deal Currency)"
    unsettled = [row for row in rows if row[column[settled]] != row[column[traded]]]
    assert unsettled
    assert {row[column["Is Covenant Lite"]] for row in rows} == {0, 1}
    assert {row[column["Payment Period"]] for row in rows} == {"3 Months"}
    assert all(row[column["Maturity Date"]][2::3][:2] == "//" for row in rows)


@pytest.mark.parametrize("trustee", TRUSTEE_TAPES)
def test_a_tape_is_the_same_in_chunks(trustee: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = generate_tape(generate(200, 2), trustee, 2).sheet()
    whole = list(sheet.rows())
    assert len(whole) == sheet.row_count
    monkeypatch.setattr("core.generate.trustees._CHUNK", 7)
    assert list(sheet.rows()) == whole


def test_a_tape_that_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = generate_tape(generate(200, 1), "trustee_a", 1)
    monkeypatch.setattr("core.generate.tapes.SHEET_ROWS_MAX", 216)
    with pytest.raises(GenerateError, match="a tape of trustee_a with 200 loans takes 217 rows; a sheet has 216"):
        tape.sheet()


def test_slices_end_where_the_sheet_does(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = generate_tape(generate(200, 1), "trustee_b", 1)
    monkeypatch.setattr("core.generate.trustees.SHEET_ROWS_MAX", 210)
    assert tape.rows < tape.sheet().row_count <= 210


def test_progress_tells_of_the_rows(tmp_path: Path) -> None:
    steps: list[int] = []
    tape = generate_tape(generate(3_000, 1), "trustee_c", 1)
    tape.write(tmp_path / "tape.xlsx", progress=steps.append)
    assert sum(steps) in range(2_000, tape.rows + 2)


def test_a_messy_book_is_the_same_book() -> None:
    clean, messy = (generate_tape(generate(200, 5, messy=mess), "trustee_a", 5) for mess in ((), MESSY))
    assert clean.answers == messy.answers
    assert messy.deal.messy == frozenset(MESSY)
