"""Lists of loans and obligors, tables by rating, industry and country, empty pages, notes, and the holdings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from random import Random

from tests.made_pages.cells import Block, Expectation, Style
from tests.made_pages.figures import Deal, Loan, by
from tests.made_pages.words import WORDS

CENT = 0.005


def holdings(style: Style, deal: Deal) -> Block:
    """Every loan, with plain headings.

    How columns of loans are worded is tried elsewhere.
    """
    block = Block()
    block.add(
        "Issuer Name",
        "Asset Name",
        "LoanX ID",
        "Principal Balance",
        "Moody's Rating",
        "S&P Rating",
        "S&P Industry",
        "Moody's Industry",
        "Country",
        "Maturity Date",
        "Spread",
        "Market Price",
    )
    for at, loan in enumerate(deal.loans):
        block.add(
            loan.issuer,
            loan.name,
            loan.identifier,
            style.amount(loan.par),
            loan.moodys,
            loan.sp,
            loan.sp_industry,
            loan.moodys_industry,
            loan.country,
            date(2029 + at % 4, 1 + at % 12, 15),
            style.figure(3.25 + at % 3, "percent", 2),
            style.figure(loan.price, "price", 3),
        )
    return block


def lists_of(deal: Deal) -> dict[str, list[Loan]]:
    """Return lists that have loans, by kind."""
    good = deal.performing
    loans_by_kind = {
        "defaulted": [loan for loan in deal.loans if loan.is_defaulted],
        "ccc_a": [loan for loan in good if loan.moodys.startswith("Caa")] if deal.market == "us" else [],
        "ccc_b": [loan for loan in good if loan.sp.startswith("CCC")],
        "discount": [loan for loan in good if loan.is_discount],
    }
    return {kind: loans for kind, loans in loans_by_kind.items() if loans}


def loan_list(rng: Random, style: Style, kind: str, loans: Sequence[Loan], heading: Sequence[str]) -> Block:
    """Return a title, a heading, the loans, and sometimes their total."""
    block = Block()
    block.add(rng.choice(WORDS.list_titles[kind]))
    if rng.random() < 0.5:
        block.add()
    agency = "S&P" if kind == "ccc_b" else "Moody's"
    block.add(*(f"{agency} Rating" if heading_text == "Rating" else heading_text for heading_text in heading))
    measure = kind.partition("_")[0]
    for loan in loans:
        rating = loan.sp if kind == "ccc_b" else loan.moodys
        row = block.add(
            loan.identifier, loan.issuer, style.amount(loan.par), rating, style.figure(loan.price, "price", 3)
        )
        block.says.append(Expectation("list", loan.issuer, loan.par / 100, row, 2, CENT, subject={"measure": measure}))
    if rng.random() < 0.6:
        block.add(rng.choice(["Total", "Total:", None]), None, style.amount(sum(loan.par for loan in loans)))
    return block


def obligor_list(rng: Random, style: Style, deal: Deal) -> Block:
    """Return the ten largest obligors with their shares."""
    block = Block()
    block.add(rng.choice(WORDS.list_titles["obligors"]))
    block.add(*rng.choice(WORDS.obligor_headings))
    for at, (name, cents) in enumerate(by(deal.performing, "issuer")[:10]):
        share = 100 * cents / deal.collateral_principal_amount
        row = block.add(at + 1, name, style.amount(cents), style.figure(share, "percent", 2))
        block.says.append(Expectation("list", name, cents / 100, row, 2, CENT, subject={"measure": "obligor"}))
    return block


def strata_table(rng: Random, style: Style, deal: Deal, column: str) -> Block:
    """Return par by rating, industry or country, with its total."""
    block = Block()
    count_name, amount_name, share_name = rng.choice(WORDS.strata_amounts)
    has_count = rng.random() < 0.6
    block.add(rng.choice(WORDS.strata[column]), *([count_name] if has_count else []), amount_name, share_name)
    total = sum(loan.par for loan in deal.performing)
    for name, cents in by(deal.performing, column):
        count = sum(getattr(loan, column) == name for loan in deal.performing)
        share = style.figure(100 * cents / total, "percent", 2)
        row = block.add(name, *([count] if has_count else []), style.amount(cents), share)
        block.says.append(Expectation("stratification", name, cents / 100, row, 1 + has_count, CENT))
    block.add("Total", *([len(deal.performing)] if has_count else []), style.amount(total))
    return block


def empty_page(rng: Random, title: str) -> Block:
    """Return a page that says that it has none."""
    block = Block()
    block.add(title)
    row = block.add(rng.choice(WORDS.empty).format(title))
    block.says.append(Expectation("empty_page", title, None, row, 0))
    return block


def notes_page(rng: Random, style: Style, deal: Deal) -> Block:
    """Return the classes, with a total."""
    heading = rng.choice(WORDS.notes_headings)
    block = Block()
    block.add(*heading.values())
    ending = rng.choice(["Notes", "", "Senior Secured Floating Rate Notes"])
    for note_class in deal.classes:
        name = f"Class {note_class.name} {ending}".strip() if note_class.letter else "Subordinated Notes"
        cells = {
            "class": name,
            "original": style.amount(note_class.balance),
            "balance": style.amount(note_class.balance),
            "spread": "N/A" if note_class.spread is None else style.figure(note_class.spread / 100, "percent", 2),
            "coupon": "N/A" if note_class.coupon is None else style.figure(note_class.coupon, "percent", 4),
            "due": style.amount(note_class.due) if note_class.letter else "N/A",
        }
        row = block.add(*(cells[column] for column in heading))
        block.says.append(
            Expectation("note", name, note_class.balance / 100, row, list(heading).index("balance"), CENT)
        )
    total = sum(each_class.balance for each_class in deal.classes)
    block.add(
        "Total", *(style.amount(total) if column in ("original", "balance") else None for column in list(heading)[1:])
    )
    return block
