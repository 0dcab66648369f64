"""Pages as a large bank's reporting system sets them: heading bars, bands with asset names, small narrow type."""

from __future__ import annotations

from random import Random
from typing import Final

from reportlab.lib.colors import Color, black, white

from tests.pdf_layouts.hands import BY_SEED
from tests.pdf_layouts.names import INDUSTRIES, companies
from tests.pdf_layouts.paper import Column, Style, begin_table, plain
from tests.pdf_layouts.truth import Document

WIDTH, HEIGHT = 792.0, 612.0
ASSETS: Final = 150
STYLE: Final = Style("Helvetica", "Helvetica-Bold", 6.0, 7.4, 1.6, indent=0, header_rule=False)
COLUMNS: Final = [
    Column("Loan\nIdentifier", 44, 96),
    Column("Facility\nType", 102, 178),
    Column("Current\nPrincipal\nBalance", 184, 250, "right"),
    Column("Unfunded\nAmount", 258, 312, "right"),
    Column("All-In\nRate", 320, 352, "right"),
    Column("Spread /\nCoupon", 360, 396, "right"),
    Column("Index", 404, 446),
    Column("Next\nReset\nDate", 452, 496),
    Column("Maturity\nDate", 502, 546),
    Column("S&P\nIndustry", 552, 690, wraps=True),
    Column("Cov-\nLite", 700, 728, "centre"),
]
NAMED: Final = [Column("", 36, 300), *COLUMNS[1:]]


def draw(seed: int, assets: int = ASSETS) -> Document:
    """Return the list of assets of a seed: a band with the name of each, its loans below."""
    random = Random(f"bank {seed}")
    paper = BY_SEED[seed % len(BY_SEED)]()
    table = begin_table(paper, "assets", COLUMNS)
    deal, day = "Stonepath Funding 2021-2 LLC", "31-Oct-2024"
    paper.running = [deal, "Collateral Asset Listing", f"As of {day}", "Confidential - for noteholders only"]
    y = 0.0

    def begin() -> float:
        canvas = paper.canvas
        paper.begin(WIDTH, HEIGHT, "rotate 90" if seed % 2 else "upright")
        canvas.rect(36, HEIGHT - 66, WIDTH - 72, 38)
        for at, line in enumerate(paper.running[:3]):
            paper.text(44, HEIGHT - 39 - 11 * at, line, STYLE.bold if at == 0 else STYLE.font, 8)
        paper.text(WIDTH - 44, HEIGHT - 39, f"Page {paper.page} of 64", STYLE.font, 8, "right")
        paper.loose[paper.page] += [f"Page {paper.page} of 64"]
        canvas.setFillColor(Color(0.45, 0.47, 0.5))
        canvas.rect(36, HEIGHT - 104, WIDTH - 72, 28, 0, 1)
        canvas.setFillColor(white)
        paper.header(COLUMNS, HEIGHT - 78, STYLE)
        canvas.setFillColor(black)
        paper.text(36, 24, paper.running[3], STYLE.font, 6)
        return HEIGHT - 108

    total = unfunded_total = 0.0
    for name in companies(random, assets):
        if y < 70:
            if y:
                paper.end()
            y = begin()
        paper.canvas.setFillColor(Color(0.88, 0.88, 0.88))
        paper.canvas.rect(36, y - 9.2, WIDTH - 72, 8.6, 0, 1)
        paper.canvas.setFillColor(black)
        y = paper.row(table, NAMED, plain(f"Asset Name: {name}", *[""] * 10), y, STYLE, True, True)
        industry = random.choice(INDUSTRIES)
        for _ in range(random.choice((1, 1, 2, 3))):
            par, unfunded = round(random.lognormvariate(13.8, 0.7), 2), round(random.choice((0, 0, 25_000.5)), 2)
            total, unfunded_total = total + par, unfunded_total + unfunded
            spread = random.randrange(12, 28) * 0.25
            cells = plain(
                random.choice((f"LX{random.randrange(10**5, 10**6)}", f"{random.randrange(10**6, 10**7):09}")),
                random.choice(("Term Loan", "Delayed Draw Term Loan", "Revolver")), f"{par:,.2f}", f"{unfunded:,.2f}",
                f"{spread + 4.8:.5f}", f"{spread:.5f}", random.choice(("1M SOFR", "3M SOFR", "PRIME")),
                f"{random.randrange(1, 29):02}-Nov-2024",
                f"{random.randrange(1, 29):02}-Jun-{random.randrange(2025, 2032)}",
                industry, random.choice(("Y", "N")),
            )  # fmt: skip
            y = paper.row(table, COLUMNS, cells, y, STYLE)
    paper.row(table, NAMED, plain("Total", "", f"{total:,.2f}", f"{unfunded_total:,.2f}", *[""] * 7), y, STYLE, True)
    paper.end()
    return paper.document(f"bank-{seed}")
