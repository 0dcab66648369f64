"""Accounts, the summary of balances and the parts of both coverage numerators, in the words of several trustees."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.made_pages.cells import Block, Style
from tests.made_pages.figures import Deal
from tests.made_pages.words import WORDS

TARGET = 50_000_000_000
"""Cents: the par that the deal was to reach."""

Line = tuple[str, int, bool]
"""Label, cents, and whether it is taken off."""


def accounts_page(rng: Random, style: Style, deal: Deal) -> Block:
    """Balances of the accounts.

    The principal one holds the deal's cash, the interest one what was collected.
    """
    names = dict(rng.choice(WORDS.account_names))
    order = ["interest", "principal", "payment", "reserve", "unfunded"]
    if rng.random() < 0.5:
        order = ["principal", "interest", "unfunded", "payment", "reserve"]
    reserve, unfunded = rng.choice([0, 10_000_000, 12_500_000]), rng.choice([0, 0, 13_153_981])
    balances = {
        "interest": deal.collected,
        "principal": deal.cash,
        "payment": 0,
        "reserve": reserve,
        "unfunded": unfunded,
    }
    page = [_closing, _split, _stacked, _plain, _typed][rng.randrange(5)]
    return page(rng, style, deal, [(names[kind], kind, balances[kind]) for kind in order])


def _closing(rng: Random, style: Style, deal: Deal, balances: list[tuple[str, str, int]]) -> Block:
    """Return opening balance, what came and went, closing balance."""
    block = Block()
    block.add(
        *rng.choice(
            [
                ("Account", "Opening Balance", "Deposits", "Withdrawals", "Closing Balance"),
                ("Account Name", "Beginning Balance", "Credits", "Debits", "Ending Balance"),
            ]
        )
    )
    for name, _, cents in balances:
        opening = rng.randrange(1_000_000, 90_000_000) if cents else 0
        into = max(cents, 0) + (5_000_000 if cents else 0)
        out = opening + into - cents
        block.add(
            name, style.amount(opening), style.amount(into), style.amount(out, is_deducted=True), style.amount(cents)
        )
    return block


def _split(rng: Random, style: Style, deal: Deal, balances: list[tuple[str, str, int]]) -> Block:
    """Principal and interest in columns, as traded and as settled; with a total."""
    block = Block()
    block.add(
        "Account Name",
        "Principal Balance (TRD)",
        "Interest Balance (TRD)",
        "Principal Balance (STLD)",
        "Interest Balance (STLD)",
    )
    sums = [0, 0, 0, 0]
    for name, kind, cents in balances:
        settled = deal.settled_cash if kind == "principal" else cents
        cells = [0, cents, 0, cents] if kind == "interest" else [cents, 0, settled, 0]
        sums = [a + b for a, b in zip(sums, cells, strict=True)]
        block.add(name, *map(style.amount, cells))
    block.add("Total", *map(style.amount, sums))
    return block


def _stacked(rng: Random, style: Style, deal: Deal, balances: list[tuple[str, str, int]]) -> Block:
    """Headings in rows above each other.

    Native and deal currency, each by trade and by receipt; with subtotals.
    """
    block = Block()
    block.add(None, None, "Native Currency", "Native Currency", "Deal Currency", "Deal Currency")
    block.add("Account Name", "CCY", *["(Trade Date Basis)", "(Received Date Basis)"] * 2)
    own, foreign = ("USD", "GBP") if deal.market == "us" else ("EUR", "GBP")
    total = [0, 0]
    for name, kind, cents in balances:
        settled = deal.settled_cash if kind == "principal" else cents
        block.add(name)
        block.add(
            f"{deal.name.partition(',')[0]} {own} {kind.title()}",
            own,
            *[style.amount(cents), style.amount(settled)] * 2,
        )
        if kind in ("interest", "principal"):
            block.add(f"{deal.name.partition(',')[0]} {foreign} {kind.title()}", foreign, *[style.amount(0)] * 4)
        block.add(f"{name} Subtotal:", None, None, None, style.amount(cents), style.amount(settled))
        total = [total[0] + cents, total[1] + settled]
    block.add("Total:", None, None, None, *map(style.amount, total))
    return block


def _plain(rng: Random, style: Style, deal: Deal, balances: list[tuple[str, str, int]]) -> Block:
    block = Block()
    block.add(
        *rng.choice(
            [("Account", "Balance"), ("Account Name", "Current Balance"), ("Account Description", "Cash Balance")]
        )
    )
    for name, _, cents in balances:
        block.add(name, style.amount(cents))
    return block


def _typed(rng: Random, style: Style, deal: Deal, balances: list[tuple[str, str, int]]) -> Block:
    block = Block()
    block.add("Account Name", "Account Type", "Currency", "Balance")
    kinds = {"interest": "Interest", "principal": "Principal"}
    for name, kind, cents in balances:
        block.add(name, kinds.get(kind, "Other"), "USD" if deal.market == "us" else "EUR", style.amount(cents))
    return block


def summary_page(rng: Random, style: Style, deal: Deal, words: dict[str, str]) -> Block:
    """Return par, defaulted par, cash and the collateral principal amount."""
    lines: list[Line] = [(words["par"], deal.par, False)]
    if deal.defaulted:
        lines.append((words["defaulted"], deal.defaulted, True))
        if style.deduction != "section" and not style.is_total_above and rng.random() < 0.5:
            lines.append((words["performing"], deal.par - deal.defaulted, False))
    if deal.is_carried_in_denominator and deal.carried:
        lines.append((words["carried"], deal.carried, False))
    lines.append((words["cash"], deal.cash, False))
    block = Block()
    if rng.random() < 0.3:
        block.add(rng.choice(["Number of Collateral Obligations", "# of Assets", "Number of Assets"]), len(deal.loans))
        block.add()
    block = block.below(_lines(rng, style, lines, (words["cpa"], deal.collateral_principal_amount)), gap=0)
    if rng.random() < 0.3:
        block.add()
        block.add(
            rng.choice(["Target Initial Par", "Target Par Amount", "Reinvestment Target Par Balance"]),
            style.amount(TARGET),
        )
    return block


def par_page(rng: Random, style: Style, deal: Deal, words: dict[str, str]) -> Block:
    """Return the numerator of overcollateralisation and its parts."""
    lines: list[Line]
    if rng.random() < 0.5 or not deal.defaulted:
        lines = [(words["performing"] if deal.defaulted else words["par"], deal.par - deal.defaulted, False)]
    else:
        lines = [(words["par"], deal.par, False), (words["defaulted"], deal.defaulted, True)]
    lines += [(words["cash"], deal.cash, False), (words["carried"], deal.carried, False)]
    lines += [(words["discount"], deal.haircut, True), (words["excess"], deal.excess, True)]
    return _lines(rng, style, lines, (words["total"], deal.adjusted), title=words["title"])


def interest_page(rng: Random, style: Style, deal: Deal) -> Block:
    """Return the numerator of interest coverage and its parts."""
    words = rng.choice(WORDS.interest)
    lines: list[Line] = [
        (words["collected"][0], deal.collected, False),
        (words["receivable"][0], deal.receivable, False),
    ]
    lines += [(label, cents, True) for label, cents in zip(words["fees"], deal.fees, strict=False)]
    return _lines(rng, style, lines, (words["total"][0], deal.interest), title=words["title"][0])


def _lines(rng: Random, style: Style, lines: list[Line], total: tuple[str, int], title: str = "") -> Block:
    """Labels and amounts that add up to a total below or above them.

    Sometimes with the month before beside them.
    """
    block = Block()
    has_prior = rng.random() < 0.15

    def add(label: str, cents: int, *, is_deducted: bool = False) -> None:
        cells: list[Any] = [label, style.amount(cents, is_deducted=is_deducted)]
        if has_prior:
            cells.append(style.amount(round(cents * 0.991), is_deducted=is_deducted))
        block.add(*cells)

    if title:
        block.add(title)
    if has_prior:
        block.add("Description", "Current", "Prior")
    if style.is_total_above:
        add(*total)
    is_less = False
    kept = [line for line in lines if not line[2]] + [line for line in lines if line[2]]
    for label, cents, is_deducted in kept if style.deduction == "section" else lines:
        if style.deduction == "section" and is_deducted and not is_less:
            block.add("Less:")
            is_less = True
        add(f"Less: {label}" if style.deduction == "less" and is_deducted else label, cents, is_deducted=is_deducted)
    if not style.is_total_above:
        add(*total)
    return block
