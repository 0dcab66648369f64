"""A trustee's monthly report: cover, contents, tests, tables beside each other, a list of assets in three sections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Final

from reportlab.pdfbase.pdfmetrics import stringWidth

from tests.pdf_layouts.hands import BY_SEED, Listing
from tests.pdf_layouts.names import INDUSTRIES, companies
from tests.pdf_layouts.paper import Align, Column, Paper, Style, Vertical, begin_table, plain, wrapped
from tests.pdf_layouts.truth import MONTHS, Document, Printed, Table

PORTRAIT: Final = (595.0, 842.0)
LANDSCAPE: Final = (842.0, 595.0)
ASSETS: Final = 136
MOODYS: Final = ("Ba3", "B1", "B2", "B2", "B3", "B3", "Caa1", "Caa2", "NR")
SP: Final = ("BB-", "B+", "B", "B", "B-", "B-", "CCC+", "CCC", "NR")
WATCH: Final = (" *-", " *+", " (dev)", " *")
REASONS: Final = ("Discretionary", "Credit Risk", "Credit Improved")
ACCOUNTS: Final = (
    "Payment Account", "Principal Collection", "Interest Collection", "Custodial Account", "Expense Reserve",
    "Unfunded Reserve", "Interest Smoothing",
)  # fmt: skip
LIMITS: Final = (
    "Not less than the required percentage consists of Senior Secured Loans, Cash and Eligible Investments",
    "Not more than the limit consists, in the aggregate, of Second Lien Loans, Unsecured Loans and Bonds",
    "Not more than the limit consists of obligations of a single Obligor and its Affiliates, except that up to five "
    "Obligors may each represent a greater percentage as the Indenture provides",
    "Caa Obligations",
    "CCC Obligations",
    "Not more than the limit consists of Collateral Obligations that pay interest less frequently than quarterly",
    "Fixed Rate Obligations",
    "Not more than the limit consists of Delayed Drawdown Collateral Obligations and Revolving Collateral Obligations",
)
PAYMENTS: Final = (
    "Taxes, governmental fees and registered office fees",
    "Trustee fees and expenses, up to the Administrative Expense Cap",
    "Base Management Fee", "Interest on the Class A-1 Notes and, pro rata, payments under any hedge agreement",
    "Interest on the Class A-2 Notes", "Interest on the Class B Notes", "Deferred interest on the Class C Notes",
    "To the holders of the Subordinated Notes until the internal rate of return is reached",
)  # fmt: skip
TRUSTEES: Final = ("Bluewater Corporate Trust", "Meridian Fiduciary Services", "Hartwell Trust Company, N.A.")


@dataclass(frozen=True)
class _Spec:
    """A column before it has a place."""

    header: str
    align: Align = "left"
    group: str = ""
    width_max: float = 0.0
    """Wider texts are wrapped; 0 where none is."""
    width_min: float = 0.0


@dataclass(frozen=True)
class _Asset:
    issuer: str
    facility: str
    number: str
    par: float
    price: float
    spread: float
    rate: float
    maturity: str
    industry: str
    moodys: tuple[str, str]
    sp: tuple[str, str]
    recovery: float


def fit(specs: list[_Spec], rows: list[list[Printed]], left: float, gutter: float, style: Style) -> list[Column]:
    """Return columns as wide as their longest text, parted by the gutter alone."""
    columns: list[Column] = []
    for at, spec in enumerate(specs):
        texts = [line for row in rows for line in _lines(row[at].text, spec.width_max, style)]
        width = max((stringWidth(text, style.bold, style.size) for text in texts), default=20.0)
        width += max(
            (stringWidth(f"{row[at].sign} ", style.bold, style.size) for row in rows if row[at].sign), default=0
        )
        width = max(
            [width, spec.width_min, *(stringWidth(word, style.bold, style.size) for word in spec.header.split())]
        )
        header = "\n".join(wrapped(spec.header, width, style.bold, replace(style, indent=0)))
        columns.append(Column(header, left, left + width, spec.align, None, spec.group, bool(spec.width_max)))
        left += width + gutter
    return columns


def _lines(text: str, width: float, style: Style) -> list[str]:
    """Return the lines of a text, with room for the indent of the second."""
    if not width:
        return [text]
    return [f"{' ' * (3 if at else 0)}{line}" for at, line in enumerate(wrapped(text, width, style.bold, style))]


class _Monthly:
    """The drawing of a report."""

    def __init__(self, seed: int, assets: int) -> None:
        self.seed = seed
        random = self.random = Random(f"monthly {seed}")
        hands = (*BY_SEED, Listing)
        self.paper: Paper = hands[seed % len(hands)]()
        sans = random.random() < 0.7
        self.style = Style(
            "Helvetica" if sans else "Times-Roman",
            "Helvetica-Bold" if sans else "Times-Bold",
            random.choice((6.5, 7.0, 7.5)),
            leading=9.0,
            gap=random.choice((1.5, 3.0)),
            indent=0,
            vertical=random.choice(("first", "middle", "last")),
        )
        self.gutter = random.choice((3.0, 4.0, 7.0))
        if isinstance(self.paper, Listing):
            self.gutter = 8.0
            self.style = replace(
                self.style, font="Courier", bold="Courier-Bold", size=5.5, leading=7.6, gap=0, vertical="first"
            )
        self.middle: Vertical = "first" if isinstance(self.paper, Listing) else "middle"
        series = random.choice(("IV", "2021-1", "XII"))
        self.deal = f"{random.choice(('Ashcombe', 'Penhallow', 'Brightwater'))} CLO {series}, Ltd."
        self.trustee = random.choice(TRUSTEES)
        self.day = f"{random.randrange(1, 29):02}-{random.choice(MONTHS)}-2024"
        self.slashes = random.random() < 0.5
        self.y = 0.0
        self.size = PORTRAIT
        self.assets = [self.asset(name) for name in companies(random, assets)]
        self.paper.running = [self.deal, f"Monthly Report as of {self.day}", self.trustee]

    def date(self, year: int) -> str:
        day, month = self.random.randrange(1, 29), self.random.randrange(12)
        return f"{month + 1:02}/{day:02}/{year}" if self.slashes else f"{day:02}-{MONTHS[month]}-{year}"

    def asset(self, issuer: str) -> _Asset:
        random = self.random
        at = random.randrange(len(MOODYS))
        spread = random.randrange(13, 27) * 0.25
        second = min(at + random.randrange(2), len(SP) - 1)
        watch = random.choice(WATCH) if random.random() < 0.15 else ""
        return _Asset(
            issuer,
            random.choice(("Term Loan B", "Term Loan", "Initial Term Loan (2021)", "2nd Lien TL", "Delayed Draw TL")),
            random.choice((f"LX{random.randrange(100_000, 999_999)}", f"{random.randrange(100_000, 999_999):09}")),
            round(random.lognormvariate(14.2, 0.6), 2),
            random.randrange(8_000, 10_075) / 100,
            spread,
            spread + 4.85,
            self.date(random.randrange(2025, 2032)),
            random.choice(INDUSTRIES),
            (MOODYS[at] + watch, MOODYS[max(at - random.randrange(2), 0)]),
            (SP[second], SP[second]),
            random.choice((30, 35, 40, 45, 50)) + random.randrange(10) / 10,
        )

    def page(self, size: tuple[float, float], title: str) -> None:
        """Begin a page with running header and footer."""
        if self.y:
            self.paper.end()
        self.size = width, height = size
        self.paper.begin(*size)
        paper, style = self.paper, self.style
        paper.text(30, height - 28, self.deal, style.bold, 8)
        paper.text(width - 30, height - 28, f"Monthly Report as of {self.day}", style.font, 8, "right")
        paper.rule(30, width - 30, height - 33)
        paper.text(30, 22, self.trustee, style.font, 7)
        paper.text(width - 30, 22, f"Page {paper.page}", style.font, 7, "right")
        paper.loose[paper.page].append(f"Page {paper.page}")
        self.y = height - 56
        paper.title(30, self.y, title, style.bold, 11)
        self.y -= 12

    def rows(
        self, table: Table, columns: list[Column], rows: list[list[Printed]], style: Style, total: bool, again: str = ""
    ) -> None:
        """Draw rows; the last one is a total. `again` is the title of a page that continues the table."""
        for at, cells in enumerate(rows):
            if again and self.y < 75:
                self.page(self.size, f"{again} (continued)")
                self.y = self.paper.header(columns, self.y, style)
            is_total = total and at == len(rows) - 1
            if is_total:
                self.paper.rule(columns[0].left, columns[-1].right, self.y + 0.3)
            self.y = self.paper.row(table, columns, cells, self.y, style, is_total)

    def table(
        self,
        name: str,
        specs: list[_Spec],
        rows: list[list[Printed]],
        *,
        left: float = 30,
        gutter: float = 0,
        style: Style | None = None,
        total: bool = False,
        again: str = "",
    ) -> None:
        """Draw a table from the present height down."""
        style = style or self.style
        columns = fit(specs, rows, left, gutter or self.gutter, style)
        assert columns[-1].right <= self.size[0] - 12, (self.seed, name, columns[-1].right)
        table = begin_table(self.paper, name, columns)
        if not any(spec.header for spec in specs):
            table.headers = ()
        else:
            self.y = self.paper.header(columns, self.y, style)
        self.rows(table, columns, rows, style, total, again)

    def beside(self, draws: list[tuple[float, str, list[_Spec], list[list[Printed]], bool]], style: Style) -> None:
        """Draw tables beside each other, each with its title."""
        top, bottoms = self.y, []
        for left, name, specs, rows, total in draws:
            self.y = top - 12
            self.paper.title(left, self.y, name, style.bold, 9)
            self.y -= 4
            self.table(name, specs, rows, left=left, gutter=8, style=style, total=total)
            bottoms.append(self.y)
        self.y = min(bottoms) - 14

    def cover(self) -> None:
        paper, style = self.paper, self.style
        width, height = PORTRAIT
        paper.begin(width, height)
        for y, text, size in (
            (620, self.deal, 26),
            (580, "Monthly Report", 20),
            (540, f"Determination Date: {self.day}", 12),
            (300, "Prepared by", 10),
            (284, self.trustee, 12),
            (268, "14 Old Exchange Row, Dublin 2", 9),
        ):
            paper.title(width / 2, y, text, style.bold, size, "centre")
        paper.loose[paper.page].append(self.day)
        self.y = 1.0

    def contents(self) -> None:
        self.page(PORTRAIT, "Table of Contents")
        paper, style = self.paper, self.style
        for name, number in (
            ("Summary", 3), ("Coverage Tests", 4), ("Accounts and Notes", 5), ("Stratifications", 6),
            ("Defaulted Securities", 7), ("Asset Detail I: Par and Price", 8), ("Asset Detail II: Interest", 12),
            ("Asset Detail III: Ratings", 16), ("Trading Activity", 20),
        ):  # fmt: skip
            self.y -= 16
            end = paper.text(60, self.y, name, style.font, 10)
            dot = stringWidth(".", style.font, 10)
            paper.text(510, self.y, "." * int((500 - end) / dot), style.font, 10, "right")
            paper.text(535, self.y, str(number), style.font, 10, "right")
            paper.loose[paper.page] += [name, str(number)]

    def summary(self, par: float) -> None:
        random = self.random
        self.page(PORTRAIT, "Summary")
        pairs = [
            ("Closing Date:", "15-Mar-2021"),
            ("Determination Date:", self.day),
            ("Aggregate Principal Balance:", f"{par:,.2f}"),
            ("Principal Proceeds:", f"{random.uniform(1e5, 9e6):,.2f}"),
            ("Target Initial Par Amount:", "$ 400,000,000.00"),
            ("Weighted Average Spread:", f"{random.uniform(3.2, 4.1):.2f}%"),
            ("Weighted Average Life:", f"{random.uniform(3.5, 5):.2f}"),
            ("Diversity Score:", str(random.randrange(60, 85))),
            ("Controlling Class:", "Class A-1 Notes"),
        ]
        dates = [
            ("Reinvestment Period End:", "15-Apr-2026"),
            ("Stated Maturity:", "15-Apr-2034"),
            ("Next Payment Date:", "15-Oct-2024"),
            ("Collateral Manager:", "Tarn Credit Partners LLP"),
            ("Days in Period:", "92"),
        ]
        specs = [_Spec(""), _Spec("", random.choice(("left", "right")))]
        style = replace(self.style, size=8, leading=10)
        if self.seed % 2:
            self.beside(
                [
                    (30, "Portfolio", specs, [plain(*pair) for pair in pairs], False),
                    (330, "Dates", specs, [plain(*pair) for pair in dates], False),
                ],
                style,
            )
        else:
            self.table("summary", specs, [plain(*pair) for pair in pairs + dates], gutter=20, style=style)

    def coverage(self, par: float) -> None:
        random = self.random
        self.page(PORTRAIT, "Coverage Tests and Collateral Quality Tests")
        rows = []
        for name, trigger in (
            ("Class A/B Overcollateralization Ratio Test", 121.2), ("Class C Overcollateralization Ratio Test", 114.6),
            ("Class D Overcollateralization Ratio Test", 107.9), ("Class E Overcollateralization Ratio Test", 104.2),
            ("Class A/B Interest Coverage Ratio Test", 120.0), ("Class C Interest Coverage Ratio Test", 115.0),
            ("Reinvestment Overcollateralization Test", 104.7),
        ):  # fmt: skip
            ratio = trigger + random.uniform(-0.5, 12)
            scale = 1 if "Over" in name else 0.02
            top = par * scale
            rows.append(
                plain(
                    name, f"{top:,.2f}", f"{top / ratio * 100:,.2f}", f"{ratio:.2f}%", f"{trigger:.2f}%",
                    f"{ratio - trigger:.2f}%" if ratio > trigger else f"({trigger - ratio:.2f}%)",
                    "PASS" if ratio > trigger else "FAIL",
                )
            )  # fmt: skip
        specs = [
            _Spec("Test", width_max=120), _Spec("Numerator", "right"), _Spec("Denominator", "right"),
            _Spec("Ratio", "right"), _Spec("Trigger", "right"), _Spec("Cushion", "right"), _Spec("Result", "centre"),
        ]  # fmt: skip
        style = replace(self.style, grid=True, vertical=self.middle, gap=4)
        self.table("coverage", specs, rows, gutter=9, style=style)

    def accounts(self) -> None:
        random = self.random
        self.page(PORTRAIT, "Accounts and Notes")
        accounts = []
        for name in ACCOUNTS:
            amount = random.choice((0, random.uniform(1e3, 9e6)))
            sign = "" if accounts else "$"
            number = f"{random.randrange(10_000, 99_999):08}"
            accounts.append([Printed(name), Printed(number), Printed(f"{amount:,.2f}", sign=sign)])
        total = sum(float(row[2].text.replace(",", "")) for row in accounts)
        accounts.append([*plain("Total", ""), Printed(f"{total:,.2f}", sign="$")])
        notes = []
        sums = [0, 0]
        for name, amount in (("A-1", 248), ("A-2", 8), ("B", 46), ("C", 24), ("D", 24), ("E", 18), ("Sub", 36.5)):
            original = round(amount * 1_000_000)
            current = original if name != "A-1" else original - random.randrange(0, 30_000_000)
            sums = [sums[0] + original, sums[1] + current]
            rate = f"SOFR + {random.randrange(110, 700) / 100:.2f}%" if name != "Sub" else "N/A"
            notes.append(plain(f"Class {name}", f"{original:,}", f"{current:,}", rate))
        notes.append(plain("Total", f"{sums[0]:,}", f"{sums[1]:,}", ""))
        left = [_Spec("Account"), _Spec("Account Number"), _Spec("Balance", "right")]
        right = [_Spec("Class"), _Spec("Original Balance", "right"), _Spec("Current Balance", "right"), _Spec("Rate")]
        self.beside([(30, "Accounts", left, accounts, True), (300, "Notes", right, notes, True)], self.style)

    def stratifications(self) -> None:
        self.page(PORTRAIT, "Stratifications")
        by_rating: dict[str, float] = {}
        by_industry: dict[str, float] = {}
        for asset in self.assets:
            by_rating[asset.moodys[1]] = by_rating.get(asset.moodys[1], 0) + asset.par
            by_industry[asset.industry] = by_industry.get(asset.industry, 0) + asset.par
        style = replace(self.style, zebra=True)
        shares = _shares(by_industry)
        if self.seed % 3 == 2:
            shares[-1][1] = Printed(f"{float(shares[-1][1].text.replace(',', '')) + 90_000:,.2f}")
        left = [_Spec("Rating"), _Spec("Par Amount", "right"), _Spec("% of Total", "right")]
        right = [_Spec("Industry", width_max=130), _Spec("Par Amount", "right"), _Spec("% of Total", "right")]
        self.beside(
            [
                (30, "Rating Distribution", left, _shares(by_rating), True),
                (270, "Industry Concentration", right, shares, True),
            ],
            style,
        )
        self.paper.tables[-1].rows[-1].is_misprint = self.seed % 3 == 2

    def nothing(self) -> None:
        self.page(PORTRAIT, "Defaulted Securities")
        specs = [_Spec("Issuer", width_max=90), _Spec("Facility"), _Spec("Default Date"), _Spec("Par", "right")]
        columns = fit(
            specs, [plain("Some Company of a Name", "Term Loan B", "15-Mar-2021", "1,000,000.00")], 30, 20, self.style
        )
        self.y = self.paper.header(columns, self.y, self.style)
        self.paper.loose[self.paper.page] += [spec.header for spec in specs]
        self.paper.title(30, self.y - 10, "No data available", self.style.font, 8)

    def details(self) -> None:
        style = replace(self.style, size=6.5, zebra=self.random.random() < 0.5, grid=False)
        assets = self.assets
        rows = [
            plain(
                asset.issuer, asset.facility, asset.number, f"{asset.par:,.2f}", f"{asset.price:.2f}",
                f"{asset.par * asset.price / 100:,.2f}", asset.industry,
            )
            for asset in assets
        ]  # fmt: skip
        values = [round(asset.par * asset.price / 100, 2) for asset in assets]
        par = sum(asset.par for asset in assets)
        average = f"{sum(values) / par * 100:.2f}" if self.seed % 2 else ""  # of the prices: no sum, and no misprint
        rows.append(plain("Total", "", "", f"{par:,.2f}", average, f"{sum(map(_cents, values)):,.2f}", ""))
        par_specs = [
            _Spec("Issuer Name", width_max=170), _Spec("Facility"), _Spec("LoanX ID"),
            _Spec("Principal Balance", "right"),
            _Spec("Market Price", "right"), _Spec("Market Value", "right"), _Spec("Moody's Industry", width_max=170),
        ]  # fmt: skip
        self.page(LANDSCAPE, "Asset Detail I: Par and Price")
        self.table("par", par_specs, rows, style=style, total=True, again="Asset Detail I: Par and Price")
        rows = [
            plain(
                asset.issuer, asset.facility, "3M SOFR", f"{asset.spread:.2f}%", f"{asset.rate:.4f}%",
                asset.maturity, self.date(2024), "" if at % 7 else "Y", f"{self.random.randrange(3, 12)}",
            )
            for at, asset in enumerate(assets)
        ]  # fmt: skip
        interest_specs = [
            _Spec("Issuer Name", width_max=170), _Spec("Facility"), _Spec("Index"), _Spec("Spread", "right"),
            _Spec("All-In Rate", "right"), _Spec("Maturity Date"), _Spec("Next Reset Date"), _Spec("PIK", "centre"),
            _Spec("Months to Reset", "right"),
        ]  # fmt: skip
        self.page(LANDSCAPE, "Asset Detail II: Interest")
        self.table("interest", interest_specs, rows, style=style, again="Asset Detail II: Interest")
        rows = [
            plain(asset.issuer, asset.facility, *asset.moodys, f"{asset.recovery:.1f}%", *asset.sp, asset.industry)
            for asset in assets
        ]
        rating_specs = [
            _Spec("Issuer Name", width_max=170), _Spec("Facility"), _Spec("Rating", group="Moody's"),
            _Spec("Rating DP", group="Moody's"), _Spec("Recovery Rate", "right", group="Moody's"),
            _Spec("Rating", group="S&P"), _Spec("Rating Implied", group="S&P"), _Spec("Industry", width_max=150),
        ]  # fmt: skip
        self.page(LANDSCAPE, "Asset Detail III: Ratings")
        self.table(
            "ratings", rating_specs, rows, gutter=self.gutter + 4, style=style, again="Asset Detail III: Ratings"
        )

    def limits(self) -> None:
        """Draw concentration limits: long descriptions over several lines."""
        random = self.random
        self.page(PORTRAIT, "Concentration Limitations")
        rows = []
        for label, text in zip("abcdefgh", LIMITS, strict=True):
            limit = random.choice((2.5, 5, 7.5, 10, 12.5, 60, 90))
            actual = limit * random.uniform(0, 1.1)
            status = "Pass" if actual <= limit else "Fail"
            rows.append(plain(f"({label})", text, f"{limit:.1f}%", f"{actual:.1f}%", status))
        specs = [
            _Spec(""), _Spec("Limitation", width_max=300), _Spec("Limit", "right"), _Spec("Actual", "right"),
            _Spec("Result", "centre"),
        ]  # fmt: skip
        self.table("limits", specs, rows, gutter=12, style=replace(self.style, gap=self.style.gap + 3))

    def payments(self) -> None:
        """Draw three tables below one another, the first with dots that lead to its amounts."""
        random = self.random
        self.page(PORTRAIT, "Interest Proceeds and Payments")
        names = ("Collections of Interest", "Fees and Other Income", "Reinvestment Income", "Hedge Receipts")
        amounts = [round(random.uniform(1e3, 4e6), 2) for _ in names]
        rows = [
            [Printed(name, leaders=True), Printed(f"{value:,.2f}")] for name, value in zip(names, amounts, strict=True)
        ]
        rows.append(plain("Total Interest Proceeds", f"{sum(amounts):,.2f}"))
        specs = [_Spec("Source", width_min=230), _Spec("Amount", "right")]
        self.table("proceeds", specs, rows, gutter=6, total=True)
        self.y -= 22
        self.paper.title(30, self.y, "Priority of Payments", self.style.bold, 9)
        self.y -= 4
        due = [round(random.uniform(1e3, 4e5), 2) for _ in PAYMENTS]
        rows = [
            plain(f"({label})", text, f"{value:,.2f}", f"{value:,.2f}" if at < 6 else "0.00")
            for at, (label, text, value) in enumerate(zip("ABCDEFGH", PAYMENTS, due, strict=True))
        ]
        specs = [
            _Spec(""),
            _Spec("Payment", width_max=220),
            _Spec("Amount Due", "right"),
            _Spec("Amount Paid", "right"),
        ]
        self.table("payments", specs, rows, gutter=14)
        self.y -= 22
        self.paper.title(30, self.y, "Class Balances", self.style.bold, 9)
        self.y -= 4
        rows = [
            plain(f"Class {name}", f"{value:,.2f}", "—", f"{value:,.2f}")
            for name, value in (("A-1", 248e6), ("A-2", 8e6), ("B", 46e6), ("C", 24e6))
        ]
        rows.append(plain("Total", f"{326e6:,.2f}", "—", f"{326e6:,.2f}"))
        specs = [_Spec("Class")] + [_Spec(name, "right") for name in ("Opening Balance", "Paid", "Closing Balance")]
        self.table("balances", specs, rows, gutter=18, total=True)

    def trades(self) -> None:
        random = self.random
        self.page(LANDSCAPE, "Trading Activity")
        rows = []
        for _ in range(16):
            asset = random.choice(self.assets)
            par = round(random.uniform(1e5, 2e6), 2)
            rows.append(
                plain(
                    self.date(2024), self.date(2024), random.choice(("Purchase", "Sale")), asset.issuer,
                    f"{asset.facility} due {asset.maturity}", f"{par:,.2f}", f"{asset.price:.3f}",
                    f"{par * asset.price / 100:,.2f}", random.choice(REASONS),
                )
            )  # fmt: skip
        specs = [
            _Spec("Trade Date"), _Spec("Settle Date"), _Spec("Type"), _Spec("Issuer", width_max=110),
            _Spec("Asset", width_max=90), _Spec("Par", "right"), _Spec("Price", "right"), _Spec("Proceeds", "right"),
            _Spec("Reason"),
        ]  # fmt: skip
        style = replace(self.style, grid=True, vertical=self.middle, gap=4)
        self.table("trades", specs, rows, gutter=9, style=style)

    def draw(self) -> Document:
        par = sum(asset.par for asset in self.assets)
        self.cover()
        self.contents()
        self.summary(par)
        self.coverage(par)
        self.accounts()
        self.stratifications()
        self.nothing()
        self.details()
        self.limits()
        self.payments()
        self.trades()
        self.paper.end()
        return self.paper.document(f"monthly-{self.seed}")


def _cents(value: float) -> float:
    return float(f"{value:.2f}")


def _shares(sums: dict[str, float]) -> list[list[Printed]]:
    total = sum(_cents(value) for value in sums.values())
    rows = [plain(name, f"{value:,.2f}", f"{value / total:.2%}") for name, value in sorted(sums.items())]
    return [*rows, plain("Total", f"{total:,.2f}", "100.00%")]


def draw(seed: int, assets: int = ASSETS) -> Document:
    """Return the report of a seed; 136 assets are 12 pages of 20 or so."""
    return _Monthly(seed, assets).draw()
