"""The schedule of investments of a fund's annual report: turned pages, industries, tranches, totals by industry."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tests.pdf_layouts.hands import BY_SEED
from tests.pdf_layouts.names import INDUSTRIES, companies
from tests.pdf_layouts.paper import Column, Style, Turn, Vertical, begin_table
from tests.pdf_layouts.truth import Document, Printed, Row

WIDTH, HEIGHT = 792.0, 612.0
LOANS: Final = 2_606
TURNS: Final[tuple[Turn, ...]] = ("rotate 90", "drawn up", "rotate 270", "drawn down")
TYPES: Final = (
    "First Lien Term Loan", "First Lien Term Loan", "First Lien Revolving Loan", "First Lien Delayed Draw Term Loan",
    "Second Lien Term Loan", "Unitranche Last Out", "Senior Subordinated Notes", "Preferred Equity", "Common Stock",
)  # fmt: skip
EQUITY: Final = ("Preferred Equity", "Common Stock")
MARKS: Final = ("(1)", "(2)", "(3)", "(1)(4)", "(2)(7)", "(10)", "(6)", "(3)(11)")


@dataclass(frozen=True)
class _Form:
    """What differs from fund to fund."""

    turn: Turn
    style: Style
    repeats_issuer: bool
    thousands: bool
    percent_of_rows: bool
    marks: str
    """raised, inline or a column of their own."""
    spread: str
    days: str
    rounds: bool
    """Whether totals are rounded sums, not sums of rounded figures."""
    total_label: str
    signs: bool
    leaders: bool
    folio_upright: bool


@dataclass
class _Sums:
    """The totals of a run of rows: cost, fair value and share of net assets, before and after they are rounded."""

    cost: float = 0.0
    value: float = 0.0
    cost_printed: int = 0
    value_printed: int = 0

    def add(self, cost: float, value: float) -> None:
        self.cost += cost
        self.value += value
        self.cost_printed += round(cost)
        self.value_printed += round(value)

    def printed(self, rounds: bool) -> tuple[int, int]:
        return (round(self.cost), round(self.value)) if rounds else (self.cost_printed, self.value_printed)


def _form(random: Random, seed: int) -> _Form:
    serif = random.random() < 0.5
    vertical: Vertical = random.choice(("first", "last"))
    style = Style(
        font="Times-Roman" if serif else "Helvetica",
        bold="Times-Bold" if serif else "Helvetica-Bold",
        size=7.2 if serif else 6.6,
        leading=8.4,
        gap=1.9,
        vertical=vertical,
    )
    return _Form(
        turn=TURNS[seed % len(TURNS)],
        style=style,
        repeats_issuer=random.random() < 0.4,
        thousands=random.random() < 0.6,
        percent_of_rows=random.random() < 0.5,
        marks=random.choice(("raised", "inline", "column")),
        spread=random.choice(("SOFR + 5.75%", "S + 575", "two")),
        days=random.choice(("12/31/2028", "6/2030", "31-Dec-2028")),
        rounds=random.random() < 0.5,
        total_label=random.choice(("Total {}", "", "Subtotal")),
        signs=random.random() < 0.8,
        leaders=random.random() < 0.3,
        folio_upright=random.random() < 0.5,
    )


def _columns(form: _Form, random: Random) -> list[Column]:
    head = random.choice(("left", "centre"))
    marks = form.marks == "column"
    spread = (
        [Column("Reference\nRate", 308, 340, "left", "centre"), Column("Spread", 346, 382, "right", "centre")]
        if form.spread == "two"
        else [Column("Reference Rate\nand Spread", 308, 392, "left", head)]
    )
    amount = "Principal/\nShares" if form.thousands else "Principal Amount/\nNumber of\nShares"
    return [
        Column("Portfolio Company", 36, 190 if marks else 204, "left", "left", wraps=True),
        *([Column("Notes", 192, 210, "left", "centre")] if marks else []),
        Column("Type of\nInvestment", 216, 304, "left", head, wraps=True),
        *spread,
        Column("Interest\nRate", 398, 436, "right", "centre"),
        Column("Maturity\nDate", 444, 490, random.choice(("left", "centre", "right")), "centre"),
        Column(amount, 500, 566, "right", "centre"),
        Column("Amortized\nCost", 580, 632, "right", "centre"),
        Column("Fair\nValue", 646, 698, "right", "centre"),
        Column("Percentage\nof Net\nAssets", 708, 748, "right", "centre"),
    ]


class _Schedule:
    """The drawing of a schedule."""

    def __init__(self, seed: int, loans: int) -> None:
        self.random = Random(f"schedule {seed}")
        self.form = _form(self.random, seed)
        self.columns = _columns(self.form, self.random)
        self.paper = BY_SEED[seed % len(BY_SEED)]()
        self.table = begin_table(self.paper, "schedule", self.columns)
        self.loans = loans
        self.net_assets = 0.0
        self.y = 0.0
        self.folio = 12
        self.first_of_page = True
        self.fund = f"{self.random.choice(('Harrowgate', 'Tidewater', 'Stonepath'))} Private Credit Fund"
        unit = "(dollar amounts in thousands)" if self.form.thousands else "(in U.S. dollars)"
        self.heading = [self.fund, "Consolidated Schedule of Investments", "December 31, 2024", unit]
        self.notes = "See notes to consolidated financial statements."
        self.paper.running = [*self.heading, self.notes]
        self.industry = ""

    def begin_page(self) -> None:
        style, paper = self.form.style, self.paper
        self.folio += 1
        upright = self.form.folio_upright and self.form.turn.startswith("drawn")
        paper.begin(WIDTH, HEIGHT, self.form.turn, folio=f"F-{self.folio}" if upright else "")
        paper.loose[paper.page].append(f"F-{self.folio}")
        y = HEIGHT - 36
        for at, line in enumerate(self.heading):
            paper.text(WIDTH / 2, y, line, style.font if at == 3 else style.bold, style.size + 1.5, "centre")
            y -= 10
        self.y = paper.header(self.columns, y - 4, style)
        self.first_of_page = True
        if self.industry:
            label = f"{self.industry} (continued)"
            paper.loose[paper.page].append(label)
            paper.text(self.columns[0].left, self.y - style.leading, label, style.bold, style.size)
            self.y -= style.leading + style.gap

    def end_page(self) -> None:
        style, paper = self.form.style, self.paper
        paper.text(WIDTH / 2, 40, self.notes, style.font, style.size, "centre")
        if not (self.form.folio_upright and self.form.turn.startswith("drawn")):
            paper.text(WIDTH / 2, 28, f"F-{self.folio}", style.font, style.size, "centre")
        paper.end()

    def make_room(self, lines: int) -> None:
        """Begin a page where so many lines have no room."""
        if not self.y:
            self.begin_page()
        elif self.y - lines * (self.form.style.leading + self.form.style.gap) < 92:
            self.end_page()
            self.begin_page()

    def cells(self, **texts: Printed) -> list[Printed]:
        """Return the cells of a row by the names of their columns."""
        names = ["issuer", *(["notes"] if self.form.marks == "column" else []), "type"]
        names += ["index", "spread"] if self.form.spread == "two" else ["spread"]
        names += ["rate", "maturity", "principal", "cost", "value", "share"]
        return [texts.get(name, Printed("")) for name in names]

    def draw_row(self, cells: list[Printed], bold: bool = False, is_heading: bool = False) -> Row:
        self.y = self.paper.row(self.table, self.columns, cells, self.y, self.form.style, bold, is_heading)
        return self.table.rows[-1]

    def amount(self, value: float, sign: bool = False) -> Printed:
        text = f"{abs(round(value)):,}" if round(value) else "—"
        return Printed(f"({text})" if round(value) < 0 else text, sign="$" if sign and self.form.signs else "")

    def draw_loan(self, issuer: str, kind: str, value: float, cost: float, par: float) -> None:
        random, form = self.random, self.form
        self.make_room(3)
        mark = random.choice(MARKS) if random.random() < 0.45 else ""
        own_column = form.marks == "column"
        names = Printed(
            issuer,
            "" if own_column or not issuer else mark,
            form.marks == "raised",
            leaders=bool(issuer) and form.leaders and random.random() < 0.2,
        )
        texts: dict[str, Printed] = {"issuer": names, "type": Printed(kind)}
        if own_column:
            texts["notes"] = Printed("", mark)
        if kind not in EQUITY:
            texts |= self.interest()
        amount = self.amount(par, self.first_of_page)
        if random.random() < 0.04 and kind not in EQUITY:
            amount = Printed(f"{random.choice(('€ ', '£ ', 'GBP ', 'CAD '))}{round(par):,}")
        texts["principal"] = amount
        texts["cost"] = self.amount(cost, self.first_of_page)
        fair = self.amount(value, self.first_of_page)
        if random.random() < 0.05 and form.marks == "raised":
            fair = Printed(fair.text, "(8)", True, fair.sign)
        texts["value"] = fair
        if form.percent_of_rows:
            texts["share"] = Printed(f"{value / self.net_assets:.2%}")
        self.draw_row(self.cells(**texts))
        self.first_of_page = False

    def interest(self) -> dict[str, Printed]:
        random, form = self.random, self.form
        basis = 25 * random.randrange(14, 34)
        index = random.choice(("SOFR", "SOFR", "SOFR", "EURIBOR", "SONIA", "PRIME"))
        paid = f" (PIK {random.choice((1, 2, 2.5, 3)):.2f}%)" if random.random() < 0.06 else ""
        month, year = random.randrange(1, 13), random.randrange(2025, 2033)
        texts = {
            "rate": Printed(f"{(basis + 430 + random.randrange(0, 40)) / 100:.2f}%"),
            "maturity": Printed(
                {
                    "6/2030": f"{month}/{year}",
                    "12/31/2028": f"{month}/{random.randrange(1, 29)}/{year}",
                    "31-Dec-2028": f"{random.randrange(1, 29):02}-{('Jan', 'Jun', 'Dec')[month % 3]}-{year}",
                }[form.days]
            ),
        }
        if form.spread == "two":
            return texts | {"index": Printed(index), "spread": Printed(f"{basis / 100:.2f}%")}
        if form.spread == "S + 575":
            return texts | {"spread": Printed(f"{index[0]} + {basis}{paid}")}
        return texts | {"spread": Printed(f"{index} + {basis / 100:.2f}%{paid}")}

    def draw_total(self, label: str, sums: _Sums, misprint: bool) -> None:
        columns, paper = self.columns, self.paper
        self.make_room(3)
        cost, value = sums.printed(self.form.rounds)
        if misprint:
            value = _misprint(value)
        for column in columns[-3:]:
            paper.rule(column.left, column.right, self.y - 0.5)
        share = Printed(f"{sums.value / self.net_assets:.1%}")
        texts = {"cost": self.amount(cost, True), "value": self.amount(value, True), "share": share}
        row = self.draw_row(self.cells(issuer=Printed(label), **texts), bold=bool(label))
        row.is_misprint = misprint
        for column in columns[-3:]:
            paper.rule(column.left, column.right, self.y + 0.6)
        self.y -= 3

    def loans_of(self, count: int, names: list[str]) -> list[tuple[str, str, float, float, float]]:
        """Return issuer, type, fair value, cost and principal of the loans of an industry, tranches together."""
        random, unit = self.random, 1 if self.form.thousands else 1000
        loans: list[tuple[str, str, float, float, float]] = []
        while len(loans) < count:
            issuer = names.pop()
            for at in range(min(random.choice((1, 1, 2, 2, 3, 4)), count - len(loans))):
                kind = random.choice(TYPES)
                par = random.lognormvariate(8.2, 1.0) * unit
                cost, value = par * random.uniform(0.96, 1.0), par * random.uniform(0.8, 1.01)
                if "Revolving" in kind and random.random() < 0.5:  # drawn by nothing, worth less than nothing
                    par, cost, value = 0.0, -random.uniform(1, 90) * unit, -random.uniform(1, 90) * unit
                elif kind in EQUITY and random.random() < 0.2:
                    value = 0.0
                loans.append((issuer if at == 0 or self.form.repeats_issuer else "", kind, value, cost, par))
        return loans

    def draw(self, seed: int) -> Document:
        random = self.random
        counts = [self.loans // len(INDUSTRIES)] * len(INDUSTRIES)
        counts[0] += self.loans - sum(counts)
        for _ in range(60):
            source, target = random.sample(range(len(counts)), 2)
            if counts[source] > self.loans / 60:
                counts[source] -= 1 + self.loans // 300
                counts[target] += 1 + self.loans // 300
        names = companies(random, self.loans)
        loans = [self.loans_of(count, names) for count in counts]
        self.net_assets = sum(loan[2] for industry in loans for loan in industry) / 1.873
        wrong = set(random.sample(range(len(INDUSTRIES)), 2))
        everything = _Sums()
        for at, (name, industry) in enumerate(zip(INDUSTRIES, loans, strict=True)):
            sums = _Sums()
            for loan in industry:
                sums.add(loan[3], loan[2])
                everything.add(loan[3], loan[2])
            self.industry = ""
            self.make_room(5)
            share = sums.value / self.net_assets
            self.draw_row(self.cells(issuer=Printed(f"{name} — {share:.1%}")), bold=True, is_heading=True)
            self.industry = name
            for issuer, kind, value, cost, par in industry:
                self.draw_loan(issuer, kind, value, cost, par)
            self.draw_total(self.form.total_label.format(name), sums, at in wrong)
        self.industry = ""
        self.draw_total("Total Investments", everything, False)
        self.end_page()
        return self.paper.document(f"schedule-{seed}")


def _misprint(value: int) -> int:
    """Return a figure with two digits swapped, or one changed, that differs in its thousands."""
    digits = str(value)
    for at in range(len(digits) - 4, 0, -1):
        if digits[at] != digits[at - 1]:
            return int(digits[: at - 1] + digits[at] + digits[at - 1] + digits[at + 1 :])
    return value + 2_000


def draw(seed: int, loans: int = LOANS) -> Document:
    """Return the schedule of a seed; 2,606 loans are about 84 pages."""
    return _Schedule(seed, loans).draw(seed)
