"""The same tables set by two other programs, a browser and a typesetter, which place every glyph by themselves."""

from __future__ import annotations

import html
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import typst

from tests.pdf_layouts.names import INDUSTRIES, companies
from tests.pdf_layouts.paper import plain
from tests.pdf_layouts.truth import MONTHS, Document, Printed, Row, Table

ASSETS: Final = 90
DEAL: Final = "Penhallow CLO XII DAC"
DAY: Final = "Monthly Report as of 30-Sep-2024"


@dataclass(frozen=True)
class _Content:
    """A table before a program sets it."""

    title: str
    headers: tuple[str, ...]
    groups: tuple[str, ...]
    numbers: frozenset[int]
    """Columns that are set to the right."""
    rows: list[list[Printed]]
    anchor: int
    """The column whose texts differ from row to row and are never wrapped: it tells the page of a row."""


def _contents(random: Random) -> list[_Content]:
    """Return the list of assets, ratings, and two small tables that stand beside each other."""
    names = companies(random, ASSETS)
    numbers = [f"LX{random.randrange(100_000, 999_999)}" for _ in names]
    pars = [round(random.lognormvariate(14, 0.7), 2) for _ in names]
    industries = [random.choice(INDUSTRIES) for _ in names]
    assets = [
        plain(
            name, number, random.choice(("Term Loan B", "First Lien Term Loan", "Revolving Credit Facility")),
            f"{par:,.2f}", f"{random.randrange(8_000, 10_050) / 100:.3f}", f"{random.randrange(300, 700) / 100:.2f}%",
            f"{random.randrange(1, 29):02}-{random.choice(MONTHS)}-{random.randrange(2025, 2032)}", industry,
        )
        for name, number, par, industry in zip(names, numbers, pars, industries, strict=True)
    ]  # fmt: skip
    ratings = [
        plain(
            name, number, random.choice(("B1", "B2", "B3 *-", "Caa1")), random.choice(("B1", "B2")),
            random.choice(("B+", "B", "B-", "CCC+ *-")), "" if at % 5 else "B",
            f"({random.randrange(1, 9)}.{random.randrange(10)}0)",
        )
        for at, (name, number) in enumerate(zip(names, numbers, strict=True))
    ]  # fmt: skip
    totals: dict[str, float] = {}
    for industry, par in zip(industries, pars, strict=True):
        totals[industry] = totals.get(industry, 0) + par
    shares = [plain(name, f"{par:,.2f}", f"{par / sum(pars):.2%}") for name, par in totals.items()]
    shares.append(plain("Total", f"{sum(pars):,.2f}", "100.00%"))
    accounts = [
        plain(name, f"{random.uniform(1e4, 9e6):,.2f}")
        for name in ("Payment Account", "Collection Account", "Custodial Account", "Expense Account", "Reserve Account")
    ]
    header = ("Issuer Name", "LoanX ID", "Facility Type", "Principal Balance", "Market Price", "Spread",
              "Maturity Date", "Industry")  # fmt: skip
    return [
        _Content("Collateral Detail", header, ("",) * 8, frozenset((3, 4, 5)), assets, 1),
        _Content(
            "Ratings Detail",
            ("Issuer Name", "LoanX ID", "Rating", "Rating DP", "Rating", "Implied", "Price Change"),
            ("", "", "Moody's", "Moody's", "S&P", "S&P", ""),
            frozenset((6,)),
            ratings,
            1,
        ),
        _Content("Industries", ("Industry", "Par Amount", "% of Total"), ("",) * 3, frozenset((1, 2)), shares, 1),
        _Content("Accounts", ("Account", "Balance"), ("",) * 2, frozenset((1,)), accounts, 1),
    ]


def _document(name: str, data: bytes, contents: list[_Content]) -> Document:
    """Return a document, with the pages that an independent reader of text sees each row on."""
    pages = _page_texts(data)
    tables = []
    page = 0
    for content in contents:
        while content.title not in pages[page]:
            page += 1
        table = Table(content.title, content.headers, content.groups)
        for cells in content.rows:
            while cells[content.anchor].text not in pages[page]:
                page += 1
            table.rows.append(Row(tuple(cells), page + 1))
        page = table.rows[0].page - 1 if content.title == "Industries" else page
        tables.append(table)
    loose = {
        at: [*(content.title for content in contents), f"Page {at} of {len(pages)}"]
        for at, _ in enumerate(pages, 1)
    }  # fmt: skip
    return Document(name, data, tables, loose, [DEAL, DAY], len(pages))


def _page_texts(data: bytes) -> list[str]:
    program = shutil.which("pdftotext")
    assert program, "these tests want pdftotext"
    run = subprocess.run([program, "-layout", "-", "-"], input=data, capture_output=True, check=True, timeout=60)
    return run.stdout.decode().split("\f")[:-1]


def _css(random: Random) -> str:
    size = random.choice((7, 8, 9))
    border = random.choice(("none", "0.5px solid #888"))
    zebra = "tbody tr:nth-child(even) { background: #eef2f8 }" if random.random() < 0.5 else ""
    return f"""
      @page {{ size: A4 {random.choice(("portrait", "landscape"))}; margin: 16mm 9mm;
        @top-left {{ content: "{DEAL}"; font: 8px Helvetica }} @top-right {{ content: "{DAY}"; font: 8px Helvetica }}
        @bottom-right {{ content: "Page " counter(page) " of " counter(pages); font: 8px Helvetica }} }}
      body {{ font: {size}px {random.choice(("Helvetica", "Times", "DejaVu Sans Condensed"))}; margin: 0 }}
      h2 {{ font-size: 13px }} section {{ break-before: page }} .pair {{ display: flex; gap: 14mm }}
      table {{ border-collapse: collapse; width: {random.choice(("100%", "auto"))} }} .pair table {{ width: auto }}
      th, td {{ border: {border}; padding: 1.5px {random.choice((2, 4))}px; text-align: left;
        vertical-align: {random.choice(("top", "middle", "baseline"))} }}
      th {{ vertical-align: bottom; border-bottom: 1px solid black }} td.n, th.n {{ text-align: right }}
      td.n {{ white-space: nowrap }} th.g {{ text-align: center }} tr {{ break-inside: avoid }} {zebra}
    """


def _html_table(content: _Content) -> str:
    groups = ""
    if any(content.groups):
        cells, at = [], 0
        while at < len(content.groups):
            span = 1
            while content.groups[at] and content.groups[at : at + 1] * (span + 1) == content.groups[at : at + span + 1]:
                span += 1
            cells.append(f'<th class="g" colspan="{span}">{html.escape(content.groups[at])}</th>')
            at += span
        groups = f"<tr>{''.join(cells)}</tr>"
    kind = {True: ' class="n"', False: ""}
    head = "".join(
        f"<th{kind[at in content.numbers]}>{html.escape(name)}</th>" for at, name in enumerate(content.headers)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind[at in content.numbers]}>{html.escape(cell.text)}</td>" for at, cell in enumerate(row))
        + "</tr>\n"
        for row in content.rows
    )
    return (
        f"<div><h2>{content.title}</h2><table><thead>{groups}<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def draw_web(seed: int) -> Document:
    """Return tables printed by a browser."""
    random = Random(f"web {seed}")
    contents = _contents(random)
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "these tests want chromium"
    detail, ratings, *pair = map(_html_table, contents)
    page = (
        f"<!doctype html><meta charset=utf-8><style>{_css(random)}</style><div>{detail}</div>"
        f'<section>{ratings}</section><section class="pair">{"".join(pair)}</section>'
    )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                program, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri(),
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        data = target.read_bytes()
    return _document(f"web-{seed}", data, contents)


def _typst_text(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'[#"{quoted}"]' if text else "[]"


def _typst_table(content: _Content, random: Random, widths: str) -> str:
    aligns = ", ".join("right" if at in content.numbers else "left" for at in range(len(content.headers)))
    groups = ""
    if any(content.groups):
        at = 0
        while at < len(content.groups):
            span = content.groups.count(content.groups[at]) if content.groups[at] else 1
            groups += f"table.cell(colspan: {span}, align: center){_typst_text(content.groups[at])}, "
            at += span
    head = groups + ", ".join(f"strong{_typst_text(name)}" for name in content.headers)
    body = ",\n".join(", ".join(_typst_text(cell.text) for cell in row) for row in content.rows)
    stroke = random.choice(("none", "0.3pt + gray", "(x, y) => if y == 0 { (bottom: 0.7pt) }"))
    return (
        f"#block[#text(12pt)[*{content.title}*]\n#table(columns: {widths}, align: ({aligns}), stroke: {stroke}, "
        f"inset: (x: {random.choice((2, 3, 5))}pt, y: 2pt), table.header({head}),\n{body})]\n"
    )


def draw_typeset(seed: int) -> Document:
    """Return tables set by a typesetter."""
    random = Random(f"typeset {seed}")
    contents = _contents(random)
    detail, ratings, shares, accounts = contents
    source = (
        f'#set page(paper: "a4", flipped: {random.choice(("true", "false"))}, margin: (x: 10mm, y: 18mm), '
        f"header: text(8pt)[{DEAL} #h(1fr) {DAY}], "
        'footer: context text(8pt)[#h(1fr) Page #counter(page).display() of #counter(page).final().at(0)])\n'
        f'#set text(font: "{random.choice(("Libertinus Serif", "DejaVu Sans Mono", "New Computer Modern"))}", '
        f"size: {random.choice(('6pt', '6.5pt', '7pt'))})\n"
        "#set par(leading: 0.35em)\n"
        + _typst_table(detail, random, "(2fr, auto, 1fr, auto, auto, auto, auto, 1.4fr)")
        + "#pagebreak()\n"
        + _typst_table(ratings, random, "(2fr, auto, auto, auto, auto, auto, auto)")
        + "#pagebreak()\n#grid(columns: 2, column-gutter: 16mm, ["
        + _typst_table(shares, random, "3")
        + "], ["
        + _typst_table(accounts, random, "2")
        + "])\n"
    )  # fmt: skip
    return _document(f"typeset-{seed}", typst.compile(source.encode(), format="pdf"), contents)
