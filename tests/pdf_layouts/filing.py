"""A schedule of investments as filed: two levels of sections, totals of each, marks, signs beside columns."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.pdf_layouts.hands import BY_SEED
from tests.pdf_layouts.names import INDUSTRIES, companies
from tests.pdf_layouts.paper import Column, Style, Turn, begin_table
from tests.pdf_layouts.truth import Document, Printed

WIDTH, HEIGHT = 792.0, 612.0
LOANS: Final = 900
TURNS: Final[tuple[Turn, ...]] = ("rotate 90", "drawn up", "rotate 270", "upright")
DEBT: Final = ("Senior secured", "One stop", "Second lien", "Subordinated debt")
EQUITY: Final = ("LP units", "Common stock", "Preferred stock", "LLC interest", "Warrant")
SIGNS: Final = ("+", "*", "#", "^", "+~", "*#", "#+!~^")
NAMES: Final = ("issuer", "type", "spread", "rate", "maturity", "principal", "cost", "share", "value")

Loan = tuple[str, str, float, float, float]
"""Issuer, type, principal, cost, fair value."""


class _Filing:
    """The drawing of a filing's schedule."""

    def __init__(self, seed: int, loans: int) -> None:
        random = self.random = Random(f"filing {seed}")
        self.seed, self.count = seed, loans
        self.turn = TURNS[seed % len(TURNS)]
        self.style = Style("Times-Roman", "Times-Bold", 7.0, 8.2, random.choice((1.2, 2.0)), 5.0)
        self.units = random.random() < 0.6
        self.label_totals = random.random() < 0.3
        self.paper = BY_SEED[seed % len(BY_SEED)]()
        right = 742.0
        self.columns = [
            Column("", 36, 206, wraps=True),
            Column("Investment\nType", 214, 280, "left", "centre", wraps=True),
            Column("Spread\nAbove\nIndex(1)", 288, 344, "left", "centre"),
            Column("Interest\nRate(2)", 350, 408, "right", "centre", wraps=True),
            Column("Maturity\nDate", 420, 456, "centre"),
            Column("Principal ($) /\nShares(3)", 472, 540, "right", "centre"),
            Column("Amortized\nCost", 556, 608, "right", "centre"),
            Column("Percentage\nof Net\nAssets", 622, 664, "right", "centre"),
            Column("Fair\nValue(4)", 684, right, "right", "centre"),
        ]
        self.table = begin_table(self.paper, "filing", self.columns)
        self.net_assets = 1.0
        self.y = 0.0
        self.folio = 140
        self.fresh = True
        self.sections: list[str] = []
        self.paper.running = [
            "Lantern Ridge Lending Corp. and Subsidiaries",
            "Consolidated Schedule of Investments - (Continued)",
            "September 30, 2024",
            "(In thousands)",
            "See Notes to Consolidated Financial Statements.",
        ]

    def begin_page(self) -> None:
        paper, style = self.paper, self.style
        paper.begin(WIDTH, HEIGHT, self.turn)
        self.folio += 1
        y = HEIGHT - 38
        for at, line in enumerate(paper.running[:4]):
            paper.text(WIDTH / 2, y, line, style.bold if at < 2 else style.font, style.size + 1.5, "centre")
            y -= 10
        self.y = paper.header(self.columns, y - 2, style)
        for name in self.sections:
            paper.loose[paper.page].append(f"{name} - (continued)")
            paper.text(36, self.y - style.leading, f"{name} - (continued)", style.bold, style.size)
            self.y -= style.leading + style.gap
        self.fresh = True

    def end_page(self) -> None:
        paper, style = self.paper, self.style
        paper.text(WIDTH / 2, 44, paper.running[-1], style.font, style.size, "centre")
        paper.text(WIDTH / 2, 32, str(self.folio), style.font, style.size, "centre")
        paper.loose[paper.page].append(str(self.folio))
        paper.end()

    def make_room(self, lines: int) -> None:
        if not self.y:
            self.begin_page()
        elif self.y - lines * (self.style.leading + self.style.gap) < 60:
            self.end_page()
            self.begin_page()

    def draw_row(self, bold: bool = False, **cells: Printed) -> None:
        self.make_room(3)
        row = [cells.get(name, Printed("")) for name in NAMES]
        self.y = self.paper.row(self.table, self.columns, row, self.y, self.style, bold)

    def amount(self, value: float, sign: bool, mark: str = "") -> Printed:
        text = f"{abs(round(value)):,}" if round(value) else "—"
        return Printed(f"({text})" if round(value) < 0 else text, mark, bool(mark), "$" if sign else "")

    def share(self, value: float, unit: bool) -> Printed:
        text = f"{abs(value) / self.net_assets * 100:.1f}"
        if text == "0.0":
            return Printed("—")
        return Printed(f"({text})" if value < 0 else text, unit="%" if unit and self.units else "")

    def draw_loan(self, loan: Loan) -> None:
        random = self.random
        issuer, kind, par, cost, value = loan
        self.make_room(3)
        fresh, self.fresh = self.fresh, False
        cells = {
            "issuer": Printed(issuer, random.choice(SIGNS) if random.random() < 0.5 else "", random.random() < 0.5),
            "type": Printed(kind),
            "principal": self.amount(par, fresh and kind in DEBT),
            "cost": self.amount(cost, fresh),
            "share": self.share(value, fresh),
            "value": self.amount(value, fresh),
        }
        if kind in EQUITY:
            cells |= {name: Printed("N/A") for name in ("spread", "rate", "maturity")}
        else:
            basis = random.randrange(18, 30) * 0.25
            index = random.choice(("SF +", "SF +", "E +", "P +", "SN +"))
            rate = f"{basis + 4.8:.2f}%"
            if random.random() < 0.05:
                rate = f"{basis + 2.05:.2f}% cash/ 2.75% PIK"
            cells["spread"] = Printed(f"{index} {basis:.2f}%", random.choice(("(i)", "(j)", "(h)")))
            cells["rate"] = Printed(rate)
            cells["maturity"] = Printed(f"{random.randrange(1, 13):02}/{random.randrange(2025, 2033)}")
        self.draw_row(**cells)

    def draw_total(self, label: str, loans: list[Loan], wrong: bool = False) -> None:
        self.make_room(4)
        cost, value = (sum(round(loan[at]) for loan in loans) for at in (3, 4))
        exact = sum(loan[4] for loan in loans)
        for column in self.columns[-3:]:
            self.paper.rule(column.left, column.right, self.y)
        printed = value + (1_900 if wrong else 0)
        cells = {"cost": self.amount(cost, True), "share": self.share(exact, True), "value": self.amount(printed, True)}
        self.draw_row(bold=bool(label), issuer=Printed(label), **cells)
        self.table.rows[-1].is_misprint = wrong
        for column in self.columns[-3:]:
            self.paper.rule(column.left, column.right, self.y + 0.5)
        self.y -= 2

    def loans(self, count: int, kinds: tuple[str, ...], names: list[str]) -> list[Loan]:
        random = self.random
        loans: list[Loan] = []
        while len(loans) < count:
            issuer = names.pop()
            for _ in range(min(random.choice((1, 1, 2, 3)), count - len(loans))):
                par = random.lognormvariate(7.5, 1.3)
                cost, value = par * random.uniform(0.97, 1), par * random.uniform(0.7, 1.02)
                if random.random() < 0.06:
                    par, cost, value = 0.0, -random.uniform(1, 60), -random.uniform(1, 60)
                loans.append((issuer, random.choice(kinds), par, cost, value))
        return loans

    def draw_section(self, heading: str, industries: dict[str, list[Loan]], wrong: set[str]) -> None:
        self.sections = []
        self.make_room(6)
        self.draw_row(bold=True, issuer=Printed(heading))
        for name, loans in industries.items():
            self.sections = [heading]
            self.make_room(5)
            self.draw_row(bold=True, issuer=Printed(name))
            self.sections = [heading, name]
            for loan in loans:
                self.draw_loan(loan)
            label = f"Total {name}" if self.label_totals else ""
            self.draw_total(label, loans, name in wrong)
        self.sections = []

    def draw(self) -> Document:
        random = self.random
        names = companies(random, self.count * 2)
        share = self.count // 36
        debt = {name: self.loans(share + random.randrange(-8, 9), DEBT, names) for name in INDUSTRIES}
        chosen = random.sample(INDUSTRIES, 12)
        equity = {name: self.loans(random.randrange(2, share), EQUITY, names) for name in INDUSTRIES if name in chosen}
        all_debt = [loan for loans in debt.values() for loan in loans]
        all_equity = [loan for loans in equity.values() for loan in loans]
        self.net_assets = sum(loan[4] for loan in all_debt + all_equity) / 1.8
        wrong = set(random.sample(INDUSTRIES, 2))
        self.draw_section("Debt investments", debt, wrong)
        self.draw_total("Total debt investments", all_debt)
        self.draw_section("Equity investments", equity, set())
        self.draw_total("Total equity investments", all_equity)
        self.draw_total("Total investments", all_debt + all_equity)
        self.end_page()
        return self.paper.document(f"filing-{self.seed}")


def draw(seed: int, loans: int = LOANS) -> Document:
    """Return the filing of a seed."""
    return _Filing(seed, loans).draw()
