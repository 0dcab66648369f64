"""Small hard cases: a table of eight rows and a total, each in a file with one difficulty."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

import pikepdf
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image, ImageDraw
from reportlab.lib.colors import Color, black, white
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from tests.pdf_layouts.hands import HANDS, Coded, in_font
from tests.pdf_layouts.paper import Column, Paper, Style, Turn, begin_table, plain
from tests.pdf_layouts.truth import Document, Printed, Table

STYLE: Final = Style(size=8, leading=10, gap=3, indent=0)
WIDTH, HEIGHT = 595.0, 842.0
COLUMNS: Final = [
    Column("Issuer", 40, 200, wraps=True),
    Column("Facility", 210, 290),
    Column("Rating", 300, 335),
    Column("All-In\nRate", 345, 385, "right"),
    Column("Maturity\nDate", 400, 450),
    Column("Principal\nBalance", 465, 545, "right"),
]
NAMES: Final = (
    "Affinex Office Flow Controls, Inc.", "Saltmarsh Fluid Financial, LLC", "Offley Waffle Holdings, Corp.",
    "Kestrel Aerostructures, Ltd.", "Tarn AV Towers, Inc.", "Quillon Pet Supplies, L.P.", "Westbrook Reflow, B.V.",
    "Marlow Fjord Fittings, Inc.",
)  # fmt: skip
_NUMBERS: Final = count(1)
"""Of fonts that are registered, each by a name of its own."""
_DEJAVU: Final = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")

Change = Callable[[Paper], None]


def rows(names: tuple[str, ...] = NAMES, seed: int = 1) -> list[list[Printed]]:
    """Return the rows of the table and their total."""
    random = Random(seed)
    pars = [round(random.lognormvariate(14, 0.5), 2) for _ in names]
    cells = [
        plain(
            name, random.choice(("Term Loan B", "Term Loan", "Revolver")), random.choice(("B1", "B2", "B3", "Caa1")),
            f"{random.randrange(700, 1300) / 100:.2f}%",
            f"{random.randrange(1, 29):02}-{random.choice(('Jan', 'Jun', 'Dec'))}-{random.randrange(2026, 2032)}",
            f"{par:,.2f}",
        )
        for name, par in zip(names, pars, strict=True)
    ]  # fmt: skip
    return [*cells, plain("Total", "", "", "", "", f"{sum(pars):,.2f}")]


def draw_rows(
    paper: Paper,
    table: Table,
    cells: list[list[Printed]],
    y: float,
    columns: list[Column] = COLUMNS,
    style: Style = STYLE,
) -> float:
    for at, row in enumerate(cells):
        y = paper.row(table, columns, row, y, style, bold=row[0].text == "Total" and at == len(cells) - 1)
    return y


def draw_page(paper: Paper, table: Table, cells: list[list[Printed]], turn: Turn = "upright") -> None:
    """Draw a page with a title, the header and rows, and leave it open."""
    paper.begin(WIDTH, HEIGHT, turn)
    paper.title(40, HEIGHT - 50, "Asset Detail", STYLE.bold, 12)
    draw_rows(paper, table, cells, paper.header(COLUMNS, HEIGHT - 70, STYLE))


def single(
    name: str,
    paper: Paper | None = None,
    *,
    cells: list[list[Printed]] | None = None,
    before: Change | None = None,
    after: Change | None = None,
    style: Style = STYLE,
) -> Document:
    """Return a document of one page, with what is drawn beneath and above its table."""
    paper = paper or Paper()
    table = begin_table(paper, name, COLUMNS)
    paper.begin(WIDTH, HEIGHT)
    if before is not None:
        before(paper)
    paper.title(40, HEIGHT - 50, "Asset Detail", STYLE.bold, 12)
    draw_rows(paper, table, cells or rows(), paper.header(COLUMNS, HEIGHT - 70, STYLE), style=style)
    if after is not None:
        after(paper)
    paper.end()
    return paper.document(name)


def edited(document: Document, edit: Callable[[pikepdf.Pdf], None], **options: Any) -> Document:
    """Return a document whose file is changed as `edit` does."""
    with pikepdf.open(BytesIO(document.data)) as pdf:
        edit(pdf)
        buffer = BytesIO()
        pdf.save(buffer, **options)
    return replace(document, data=buffer.getvalue())


def fonts_of(pdf: pikepdf.Pdf) -> list[Any]:
    """Return the fonts of a document, once each."""
    fonts = {}
    for page in pdf.pages:
        for font in page.obj.Resources.Font.values():
            fonts[font.objgen] = font
    return list(fonts.values())


def _without_table(document: Document) -> Document:
    return replace(document, tables=[])


# Fonts


def ligatures_by_unicode() -> Document:
    """Return text whose glyphs stand for several letters: U+FB00 to U+FB04."""
    font = f"Ligatures{next(_NUMBERS)}"
    pdfmetrics.registerFont(TTFont(font, str(_DEJAVU)))
    pairs = {"ffi": "\ufb03", "ffl": "\ufb04", "ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02"}

    def change(text: str) -> str:
        return re.sub("ffi|ffl|ff|fi|fl", lambda match: pairs[match[0]], text)

    return single("ligatures_by_unicode", in_font(font, change)())


def ligatures_by_name() -> Document:
    """Return text with the glyphs fi and fl by their names alone."""

    def change(text: str) -> str:
        return text.replace("fi", "Ø").replace("fl", "Þ")

    def edit(pdf: pikepdf.Pdf) -> None:
        for font in fonts_of(pdf):
            if font.BaseFont == "/Helvetica":
                differences = Array([0xD8, Name.fi, 0xDE, Name.fl])
                font.Encoding = pdf.make_indirect(
                    Dictionary(Type=Name.Encoding, BaseEncoding=Name.WinAnsiEncoding, Differences=differences)
                )

    return edited(single("ligatures_by_name", in_font("Helvetica", change)()), edit)


def symbol_font() -> Document:
    """Return text whose codes are mapped to U+F020 and above, as fonts with a symbol encoding are."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Symbols def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n1 beginbfrange <20> <7E> <F020> endbfrange\n"
        b"endcmap CMapName currentdict /CMap defineresource pop end end"
    )

    def edit(pdf: pikepdf.Pdf) -> None:
        for font in fonts_of(pdf):
            font.ToUnicode = pdf.make_indirect(Stream(pdf, cmap))

    return edited(single("symbol_font"), edit)


def bullets() -> Document:
    """Return rows with a bullet of a dingbat font before the issuer."""

    class Bulleted(Paper):
        def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
            super().put(x, y, text, font, size)
            if text in NAMES:
                self.canvas.setFont("ZapfDingbats", 5)
                self.canvas.drawString(x - 8, y + 1, "\u25cf")

    return single("bullets", Bulleted())


def no_break_spaces() -> Document:
    """Return text with spaces that do not break, in names and before units."""

    class NoBreak(Paper):
        def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
            super().put(x, y, text.replace(" ", "\u00a0"), font, size)

    return single("no_break_spaces", NoBreak())


def hyphens() -> Document:
    """Return hyphens in words, at the ends of lines, soft ones, and before negative numbers."""
    names = (
        "Mid-Atlantic Foods, Inc.", "Co-Issuer Notes", "Interconnectivity Trade Administra\u00adtion Services, LLC",
        "X-Ray, Ltd.", "Westbrook Transcontinental Long-Distance Haulage, Inc.",
    )  # fmt: skip
    cells = rows(names)
    cells[1][3] = Printed("-1.25%")
    cells[2][5] = Printed("(1,000.50)")
    cells[-1] = plain("Largest Balance", "", "", "", "", "5,000,000.00")
    return single("hyphens", cells=cells, style=replace(STYLE, breaks_at_hyphens=True))


def decimal_comma() -> Document:
    """Return a table with decimal commas and points between thousands."""
    cells = rows()
    for row in cells:
        for at, cell in enumerate(row):
            if isinstance(value := cell.values()[0], float) and at in (3, 5):
                text = cell.text.replace(",", " ").replace(".", ",").replace(" ", ".")
                row[at] = Printed(text, number=value)
    return single("decimal_comma", cells=cells)


# Visible and not


def watermark() -> Document:
    """Return a page with a large word across it."""

    def before(paper: Paper) -> None:
        canvas = paper.canvas
        canvas.saveState()
        canvas.translate(300, 640)
        canvas.rotate(35)
        canvas.setFillColor(Color(0.85, 0.85, 0.85))
        canvas.setFont("Helvetica-Bold", 110)
        canvas.drawCentredString(0, 0, "DRAFT")
        canvas.restoreState()

    return single("watermark", before=before)


def invisible() -> Document:
    """Return a page with text that is drawn in no colour (render mode 3) between the rows."""

    def after(paper: Paper) -> None:
        for at in range(6):
            text = paper.canvas.beginText(212, HEIGHT - 110 - at * 20)
            text.setFont("Helvetica", 7)
            text.setTextRenderMode(3)
            text.textOut("hidden 99,999.99")
            paper.canvas.drawText(text)

    return single("invisible", after=after)


def white_headers() -> Document:
    """Return a page with white headers on a dark bar."""

    class WhiteHeader(Paper):
        def header(self, columns: list[Column], y: float, style: Style) -> float:
            self.canvas.setFillColor(Color(0.1, 0.2, 0.4))
            self.canvas.rect(36, y - 24, 515, 24, 0, 1)
            self.canvas.setFillColor(white)
            below = super().header(columns, y, style)
            self.canvas.setFillColor(black)
            return below

    return single("white_headers", WhiteHeader())


def outside() -> Document:
    """Return a page with text beyond its edges, and text that a crop box cuts off."""

    def after(paper: Paper) -> None:
        paper.canvas.setFont("Helvetica", 8)
        paper.canvas.drawString(WIDTH + 60, HEIGHT - 120, "beyond 1,111.11")
        paper.canvas.drawString(40, -40, "below 2,222.22")
        paper.canvas.drawString(2, HEIGHT - 120, "cut 3")

    def edit(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].obj.CropBox = Array([30, 20, 570, 830])

    return edited(single("outside", after=after), edit)


# Headings and pages


def vertical_headings(turn: Turn = "upright", angle: int = 90, name: str = "vertical_headings") -> Document:
    """Return a table whose narrow columns have headings that run up the page, some in two lines."""
    paper = Paper()
    headers = ("Diversity Score", "Recovery Rate", "Spread", "Life", "Months to\nReset")
    columns = [
        Column("Issuer", 40, 200),
        *(Column(header, 210 + 32 * at, 232 + 32 * at, "right") for at, header in enumerate(headers)),
        Column("Principal\nBalance", 380, 460, "right"),
    ]
    table = begin_table(paper, name, columns)
    paper.begin(WIDTH, HEIGHT, turn, folio="F-7" if turn.startswith("drawn") else "")
    paper.title(40, HEIGHT - 50, "Asset Detail", STYLE.bold, 12)
    bottom = HEIGHT - 140
    for column in columns:
        lines = column.header.split("\n")
        if column.width > 30:
            for at, line in enumerate(reversed(lines)):
                paper.text(column.place(column.align), bottom + at * 10, line, STYLE.bold, 8, column.align)
            continue
        for at, line in enumerate(lines):
            aside = 9 * (len(lines) - 1 - at) * (1 if angle == 90 else -1)
            paper.canvas.saveState()
            paper.canvas.translate(
                column.right - (6 if angle == 90 else 14) - aside, bottom if angle == 90 else bottom + 62
            )
            paper.canvas.rotate(angle)
            paper.canvas.setFont(STYLE.bold, 8)
            paper.canvas.drawString(0, 0, line)
            paper.canvas.restoreState()
    paper.rule(40, 460, bottom - 3)
    random = Random(3)
    cells = [
        plain(
            issuer, str(random.randrange(1, 9)), f"{random.randrange(30, 60)}%",
            f"{random.randrange(300, 600) / 100:.2f}%", f"{random.randrange(30, 60) / 10:.1f}",
            str(random.randrange(1, 7)), f"{random.randrange(10**6, 10**7):,}",
        )
        for issuer in NAMES
    ]  # fmt: skip
    draw_rows(paper, table, cells, bottom - 4, columns)
    paper.end()
    return paper.document(name)


def vertical_headings_down() -> Document:
    """Return a turned page, its number upright, with headings that run down it."""
    return vertical_headings("drawn up", -90, "vertical_headings_down")


def page_numbers() -> Document:
    """Return three pages with a running header that counts them."""
    paper = Paper()
    table = begin_table(paper, "page_numbers", COLUMNS)
    paper.running = ["Penhallow CLO IV", "Monthly Report"]
    for at in range(3):
        paper.begin(WIDTH, HEIGHT)
        paper.text(40, HEIGHT - 30, "Penhallow CLO IV", STYLE.font, 8)
        paper.text(WIDTH - 50, HEIGHT - 30, f"Monthly Report - Page {at + 1} of 3", STYLE.font, 8, "right")
        paper.loose[paper.page].append(f"Monthly Report - Page {at + 1} of 3")
        paper.text(WIDTH / 2, 24, f"- {at + 1} -", STYLE.font, 8, "centre")
        paper.loose[paper.page].append(f"- {at + 1} -")
        cells = rows(tuple(f"{name} Series {at + 1}" for name in NAMES), at)[: 8 if at < 2 else 5]
        draw_rows(paper, table, cells, paper.header(COLUMNS, HEIGHT - 60, STYLE))
        paper.end()
    return paper.document("page_numbers")


def turned_pages() -> Document:
    """Return pages of one table, each turned another way."""
    paper = Paper()
    table = begin_table(paper, "turned_pages", COLUMNS)
    turns: tuple[Turn, ...] = ("upright", "rotate 90", "drawn up", "rotate 270", "drawn down")
    for at, turn in enumerate(turns):
        cells = rows(tuple(f"{name} Series {at + 1}" for name in NAMES), at)[:8]
        draw_page(paper, table, cells, turn)
        paper.end()
    return paper.document("turned_pages")


def upside_down() -> Document:
    """Return a page that /Rotate 180 sets upright."""
    document = single("upside_down", before=lambda paper: paper.canvas.transform(-1, 0, 0, -1, WIDTH, HEIGHT))

    def edit(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].obj.Rotate = 180

    return edited(document, edit)


def shifted_box() -> Document:
    """Return a page whose box does not begin at 0, 0."""

    def before(paper: Paper) -> None:
        paper.canvas.translate(-200, 1_000)

    def edit(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].obj.MediaBox = Array([-200, 1_000, WIDTH - 200, HEIGHT + 1_000])

    return edited(single("shifted_box", before=before), edit)


def in_forms() -> Document:
    """Return a page whose content is a form in a form."""

    def edit(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0].obj
        data = page.Contents.read_bytes()
        box = Array([0, 0, 612, 900])
        inner = pdf.make_indirect(
            Stream(pdf, data, Type=Name.XObject, Subtype=Name.Form, BBox=box, Resources=page.Resources)
        )
        outer = pdf.make_indirect(
            Stream(
                pdf, b"q .5 0 0 .5 0 0 cm /In Do Q", Type=Name.XObject, Subtype=Name.Form, BBox=box,
                Resources=Dictionary(XObject=Dictionary(In=inner)),
            )
        )  # fmt: skip
        page.Resources = Dictionary(XObject=Dictionary(Out=outer))
        page.Contents = pdf.make_indirect(Stream(pdf, b"q 2 0 0 2 0 0 cm /Out Do Q"))

    return edited(single("in_forms"), edit)


# Files


def empty_password() -> Document:
    """Return an encrypted file that opens without a password."""
    rules = pikepdf.Encryption(owner="owner", user="", R=6)
    return edited(single("empty_password"), lambda pdf: None, encryption=rules)


def old_encryption() -> Document:
    """Return a file with the encryption of 2001 that opens without a password."""
    rules = pikepdf.Encryption(owner="owner", user="", R=3, aes=False, metadata=False)
    return edited(single("old_encryption"), lambda pdf: None, encryption=rules)


def object_streams() -> Document:
    """Return a file whose objects stand in streams, in an order for the web."""
    return edited(
        single("object_streams"), lambda pdf: None, object_stream_mode=pikepdf.ObjectStreamMode.generate, linearize=True
    )


def form_fields() -> Document:
    """Return a page with a form to fill in below its table."""

    def after(paper: Paper) -> None:
        form = paper.canvas.acroForm
        form.textfield(name="prepared", value="J. Doe", x=40, y=300, width=150, height=18, fontSize=9)
        form.checkbox(name="final", checked=True, x=220, y=300, size=14)

    return single("form_fields", after=after)


def annotations() -> Document:
    """Return a page with a note, a link and a highlight over its table."""

    def after(paper: Paper) -> None:
        canvas = paper.canvas
        canvas.textAnnotation("Please check 77,777.77", Rect=[100, HEIGHT - 130, 120, HEIGHT - 110])
        canvas.linkURL("https://cushion.example/", (40, HEIGHT - 130, 200, HEIGHT - 110))
        canvas.highlightAnnotation("a remark", [40, HEIGHT - 160, 200, HEIGHT - 150])

    return single("annotations", after=after)


# Pictures and what is refused


def picture(cells: list[list[Printed]]) -> ImageReader:
    """Return a scan of a table."""
    image = Image.new("L", (1_000, 1_400), 250)
    pen = ImageDraw.Draw(image)
    for at, row in enumerate(cells):
        pen.text(
            (60, 100 + at * 24),
            "   ".join(cell.text for cell in row).encode("latin-1", "replace").decode("latin-1"),
            fill=20,
        )
    return ImageReader(image)


def one_page_scanned() -> Document:
    """Return three pages, the second a picture."""
    paper = Paper()
    table = begin_table(paper, "one_page_scanned", COLUMNS)
    for at in range(3):
        cells = rows(tuple(f"{name} Series {at + 1}" for name in NAMES), at)[:8]
        if at == 1:
            paper.begin(WIDTH, HEIGHT)
            paper.canvas.drawImage(picture(cells), 0, 0, WIDTH, HEIGHT)
        else:
            draw_page(paper, table, cells)
        paper.end()
    return paper.document("one_page_scanned")


def scan() -> Document:
    """Return two pages that are pictures."""
    paper = Paper()
    for _ in range(2):
        paper.begin(WIDTH, HEIGHT)
        paper.canvas.drawImage(picture(rows()), 0, 0, WIDTH, HEIGHT)
        paper.end()
    return paper.document("scan")


def password() -> Document:
    """Return a file that opens with a password alone."""
    rules = pikepdf.Encryption(owner="owner", user="sesame", R=6)
    return edited(single("password"), lambda pdf: None, encryption=rules)


def drawn_glyphs() -> Document:
    """Return text in a font of drawings (Type 3), with codes and names of glyphs that mean no letters."""

    def edit(pdf: pikepdf.Pdf) -> None:
        box = pdf.make_indirect(Stream(pdf, b"500 0 0 0 400 700 d1 50 0 350 650 re f"))
        names = [Name(f"/x{code}") for code in range(1, 100)]
        for font in fonts_of(pdf):
            name = f"{str(font.BaseFont)[1:]}Drawn"
            for key in list(font.keys()):
                del font[key]
            font.Type, font.Subtype, font.Name = Name.Font, Name.Type3, Name(f"/{name}")
            font.FontBBox, font.FontMatrix = Array([0, 0, 500, 700]), Array([0.001, 0, 0, 0.001, 0, 0])
            font.CharProcs = Dictionary({str(glyph): box for glyph in names})
            font.Encoding = Dictionary(Type=Name.Encoding, Differences=Array([1, *names]))
            font.FirstChar, font.LastChar, font.Widths = 1, 99, Array([500] * 99)
            font.Resources = Dictionary()
            font.FontDescriptor = pdf.make_indirect(
                Dictionary(Type=Name.FontDescriptor, FontName=Name(f"/{name}"), Flags=4)
            )

    return edited(single("drawn_glyphs", Coded()), edit)


def private_use() -> Document:
    """Return text whose codes are mapped to U+E000 and above."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Own def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n1 beginbfrange <20> <7E> <E000> endbfrange\n"
        b"endcmap CMapName currentdict /CMap defineresource pop end end"
    )

    def edit(pdf: pikepdf.Pdf) -> None:
        for font in fonts_of(pdf):
            font.ToUnicode = pdf.make_indirect(Stream(pdf, cmap))

    return edited(single("private_use"), edit)


def subset_without_unicode() -> Document:
    """Return text in a subset of a font, with codes of its own and nothing that says what they mean."""
    font = f"Subset{next(_NUMBERS)}"
    pdfmetrics.registerFont(TTFont(font, str(_DEJAVU)))

    class AllInSubset(Paper):
        def put(self, x: float, y: float, text: str, font_of_style: str, size: float) -> None:
            letters = "".join(chr(0x3E0 + ord(sign)) for sign in text)  # Cyrillic: codes in the order of their use
            super().put(x, y, letters, font, size)

    def edit(pdf: pikepdf.Pdf) -> None:
        for obj in fonts_of(pdf):
            if "/ToUnicode" in obj:
                del obj["/ToUnicode"]

    return edited(single("subset_without_unicode", AllInSubset()), edit)


READABLE: Final[dict[str, Callable[[], Document]]] = {
    **{name: lambda name=name: single(name, HANDS[name]()) for name in HANDS},  # type: ignore[misc]
    **{
        case.__name__: case
        for case in (
            ligatures_by_unicode, ligatures_by_name, symbol_font, bullets, no_break_spaces, hyphens, decimal_comma,
            watermark, invisible, white_headers, outside, vertical_headings, vertical_headings_down, page_numbers,
            turned_pages,
            upside_down, shifted_box, in_forms, empty_password, old_encryption,
            object_streams, form_fields, annotations, one_page_scanned,
        )
    },
}  # fmt: skip
"""Cases of which every cell is read right."""

REFUSED: Final[dict[str, tuple[Callable[[], Document], str]]] = {
    "scan": (scan, "scan"),
    "password": (password, "password"),
    "drawn_glyphs": (drawn_glyphs, "of drawings (Type 3)"),
    "private_use": (private_use, "Helvetica"),
    "subset_without_unicode": (subset_without_unicode, "DejaVuSans"),
}
"""Cases that are refused, with a word that the message has."""


def draw(seed: int) -> Document:
    """Return the readable case of this number, from 0."""
    return list(READABLE.values())[seed % len(READABLE)]()
