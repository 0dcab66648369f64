"""Reports in four manners are read back without loss, whatever habits their seed gives them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.files.read import read, read_files
from core.generate.book import draw_book
from core.generate.deal import GeneratedDeal, GenerateError, generate
from core.generate.reports import LOANS_MAX, REPORTS, GeneratedReport, generate_report
from core.generate.sheets import draw_texts
from core.portfolio import Portfolio
from core.portfolio.model import ratings

NUMBERS = (
    "par_value", "price", "purchase_price", "spread", "floor", "all_in_rate", "recovery_rate", "maturity_date",
)  # fmt: skip
RANKS = ("rating_agency_a", "rating_agency_b", "rating_agency_c")
FLAGS = ("is_defaulted", "cov_lite", "is_dip", "is_current_pay")


def small(seed: int) -> GeneratedDeal:
    """A deal of a few loans, too few to keep to any limit."""
    book = draw_book(seed, 12 + seed % 13)
    return GeneratedDeal(book, draw_texts(book), frozenset())


def lost(report: GeneratedReport, portfolio: Portfolio) -> list[str]:
    """What the reader has otherwise than the report says, each with the loan or the page."""
    wrong = [] if portfolio.row_count == len(report.loans) else [f"{portfolio.row_count} loans of {len(report.loans)}"]
    rows = {
        name: row
        for row, name in enumerate(
            zip(texts(portfolio, "borrower_name"), texts(portfolio, "facility_name"), strict=True)
        )
    }
    industries = texts(portfolio, "industry")
    masks = texts(portfolio, "rating_agency_c")
    for loan in report.loans:
        row = rows.get((loan.borrower_name, loan.facility_name))
        if row is None:
            wrong.append(f"{loan.identifier}: not found")
            continue
        for name in NUMBERS:
            words, got = getattr(loan, name), portfolio.numbers.get(name, np.full(portfolio.row_count, np.nan))[row]
            if not (np.isnan(got) if words is None else abs(got - words) <= 1e-9 * max(1.0, abs(words))):
                wrong.append(f"{loan.identifier}: {name} {got} of {words}")
        for name in RANKS:
            words = ratings.rank(getattr(loan, name), name[-1])  # type: ignore[arg-type]
            if portfolio.ranks[name][row] != words:
                wrong.append(f"{loan.identifier}: {name} {portfolio.ranks[name][row]} of {words}")
        for name in FLAGS:
            if bool(portfolio.flags[name][row] if name in portfolio.flags else 0) != getattr(loan, name):
                wrong.append(f"{loan.identifier}: {name} is not {getattr(loan, name)}")
        if industries[row] != loan.industry:
            wrong.append(f"{loan.identifier}: {industries[row]} of {loan.industry}")
        if ratings.is_masked(loan.rating_agency_c) != ratings.is_masked(masks[row]):
            wrong.append(f"{loan.identifier}: the mask {loan.rating_agency_c} is {masks[row]}")
    return [*wrong, *lost_of_deal(report, portfolio)]


def texts(portfolio: Portfolio, name: str) -> list[str]:
    column = portfolio.names[name]
    return [str(column.values[code]) if code >= 0 else "" for code in column.codes.tolist()]


def lost_of_deal(report: GeneratedReport, portfolio: Portfolio) -> list[str]:
    """The same of notes, accounts, the day and published figures."""
    if portfolio.tranches is None:
        return ["no notes"]
    nan = float("nan")
    pairs = {
        "balance": (portfolio.tranches.current_balance, [note.balance for note in report.notes]),
        "spread": (portfolio.tranches.spread, [nan if note.spread is None else note.spread for note in report.notes]),
        "coupon": (portfolio.tranches.coupon, [nan if note.coupon is None else note.coupon for note in report.notes]),
        "oc_trigger": (portfolio.tranches.oc_trigger, [note.oc_trigger or nan for note in report.notes]),
        "ic_trigger": (portfolio.tranches.ic_trigger, [note.ic_trigger or nan for note in report.notes]),
        "cash": ([portfolio.deal.principal_cash], [report.principal_cash]),
        "interest": ([portfolio.deal.interest_collected], [report.interest_collected]),
        "published": ([test.value for test in portfolio.facts.tests], [item.value for item in report.published]),
        "triggers": ([test.trigger for test in portfolio.facts.tests], [item.trigger for item in report.published]),
    }
    wrong = []
    for name, (got, words) in pairs.items():
        have, want = np.array(got, np.float64), np.array(words, np.float64)
        if have.shape != want.shape or not np.allclose(have, want, rtol=1e-9, atol=1e-9, equal_nan=True):
            wrong.append(f"{name}: {have.tolist()} of {want.tolist()}")
    if portfolio.deal.as_of != np.datetime64(report.as_of, "D").astype(np.int64):
        wrong.append(f"as_of: {portfolio.deal.as_of}")
    return wrong


def all_lost(manner: str, seeds: range, folder: Path) -> dict[int, list[str]]:
    """By seed what is lost of its report."""
    result = {}
    for seed in seeds:
        report = generate_report(small(seed), manner, seed)
        if manner == "flat":
            book = read_files(report.files())
        else:
            report.write(folder / "report.xlsx")
            book = read(folder / "report.xlsx")
        if wrong := lost(report, Portfolio.from_workbook(book, as_of=0.0)):
            result[seed] = wrong
    return result


@pytest.mark.parametrize(
    ("manner", "seeds"), [("pages", range(16)), ("flat", range(1000, 1024)), ("sheet", range(5)), ("months", range(3))]
)
def test_variants_are_read_without_loss(manner: str, seeds: range, tmp_path: Path) -> None:
    """Fifty of them; `tests/programs/test_generated_reports.py` reads hundreds."""
    assert all_lost(manner, seeds, tmp_path) == {}


def test_the_reader_of_this_test_sees_a_loss() -> None:
    """One figure, one rating, one note and one account of another report are each told."""
    report, second = (generate_report(small(seed), "flat", 3) for seed in (3, 28))
    portfolio = Portfolio.from_workbook(read_files(second.files()), as_of=0.0)
    wrong = lost(report, portfolio)
    assert {"not found"} <= {line.rpartition(": ")[2] for line in wrong}
    assert any(line.startswith("cash") for line in wrong)


def test_an_archive_and_a_workbook_of_a_whole_book(tmp_path: Path) -> None:
    deal = generate(300, 5)
    for manner, extension in REPORTS.items():
        report = generate_report(deal, manner, 5)
        path = tmp_path / f"report.{extension}"
        report.write(path)
        assert report.extension == extension
        assert lost(report, Portfolio.from_workbook(read(path), as_of=0.0)) == []
        again = tmp_path / "again"
        generate_report(generate(300, 5), manner, 5).write(again)
        assert again.read_bytes() == path.read_bytes()
        report.write_answers(tmp_path / "answers.json")
        answers = json.loads((tmp_path / "answers.json").read_text())
        assert len(answers["loans"]) == 300
        assert answers["loans"][7]["par_value"] == report.loans[7].par_value
        assert [note["name"] for note in answers["notes"]] == [note.name for note in report.notes]
        assert answers["principal_cash"] == report.principal_cash


def test_habits_differ_by_seed() -> None:
    reports = [generate_report(small(1), manner, seed) for manner in REPORTS for seed in range(12)]
    assert {report.encoding for report in reports} == {"utf-8", "utf-8-sig", "utf-16", "cp1252"}
    assert {report.delimiter for report in reports} >= {",", ";"}
    assert any(report.principal_cash < 0 for report in reports)
    assert any(ratings.is_masked(loan.rating_agency_c) for report in reports for loan in report.loans)


def test_what_cannot_be_made_is_refused() -> None:
    deal = small(1)
    with pytest.raises(GenerateError, match="unknown report 'x': choose from pages, flat, sheet, months"):
        generate_report(deal, "x")
    assert LOANS_MAX == 100_000
