"""PDF documents that ask for more than they have: bombs, loops, and values that make no sense.

Each row of `FILES` is a document by name, and what must become of it: `READ` (the table of `tests.raw_pdf` is in the
workbook), a pattern of the refusal, or `EITHER` where the format leaves it open.
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import pikepdf
import xlsxwriter

from core.grid.sheet import Workbook
from tests.forked_child import Outcome, pool, read_in_fork
from tests.raw_pdf import (
    FIRST_PAGE,
    HELVETICA,
    TABLE,
    TABLE_CELLS,
    deflated,
    document,
    more_from,
    repeated_deflated,
    stream,
    written,
)

READ: Final = "read"
EITHER: Final = "either"
FLATE: Final = b"/Filter/FlateDecode"
TEN_THOUSAND: Final = 10_000
SIDE: Final = 14_400.0
"""Of the largest page that a program prints, in points."""


class HostileFile(NamedTuple):
    """A document, and what must become of it."""

    build: Callable[[], bytes]
    becomes: str
    name: str = "hostile.pdf"
    is_slow: bool = False
    """Whether it takes longer than the tests have, within the limits of a child."""


# Bombs ----------------------------------------------------------------------------------------------------------------


def flate_bomb(gigabytes: int, *, times: int = 1, sign: bytes = b" ") -> bytes:
    """A page whose content unpacks to gigabytes of one sign."""
    data = repeated_deflated(sign * (2**20 // len(sign)), gigabytes * 1024, TABLE + b" ")
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    return document([stream(data, b"/Filter[" + b"/FlateDecode" * times + b"]")])


def shared_content(count: int, size: int) -> bytes:
    """A page whose content names one stream so many times."""
    part = more_from()
    content = b"(" + b"a" * size + b") Tj "
    links = b"[" + b"%d 0 R " % part * count + b"]"
    return document([b"BT /F1 1 Tf ET"], page=b"/Contents " + links, more=[stream(b"BT /F1 1 Tf " + content + b"ET")])


def forms(levels: int, calls: int, last: bytes, *, to_first: bool = False) -> bytes:
    """Forms that each show the next one so many times; the last one shows text, or the first."""
    first = more_from()
    more = []
    for level in range(levels):
        is_last = level == levels - 1
        target = first if is_last and to_first else first + level + 1
        content = last if is_last and not to_first else last + b" /X Do" * calls
        entries = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>"
        entries += (b"" if is_last and not to_first else b"/XObject<</X %d 0 R>>" % target) + b">>"
        more.append(stream(content, entries))
    return document([TABLE + b" /X Do"], resources=b"/XObject<</X %d 0 R>>" % first, more=more)


def pages_doubled(levels: int) -> bytes:
    """A tree of pages in which each node names the next one twice: two to the power of the levels."""
    nodes = [
        b"<</Type/Pages/Count %d/Kids[%d 0 R %d 0 R]/Parent %d 0 R>>" % (2 ** (levels - at), at + 3, at + 3, at + 1)
        for at in range(levels)
    ]
    page = b"<</Type/Page/MediaBox[0 0 612 792]/Parent %d 0 R/Resources<<>>>>" % (levels + 1)
    return written([b"<</Type/Catalog/Pages 2 0 R>>", *nodes, page])


def one_page_often(count: int, content: bytes = TABLE) -> bytes:
    """A list of pages that names one page so many times."""
    kids = b"%d 0 R " % FIRST_PAGE * count
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>"
    pages = b"<</Type/Pages/Count %d/Kids[" % count + kids + b"]>>"
    return written([b"<</Type/Catalog/Pages 2 0 R>>", pages, HELVETICA, page, deflated(content)])


def empty_pages(count: int) -> bytes:
    """So many pages of their own without a content."""
    kids = b" ".join(b"%d 0 R" % (3 + at) for at in range(count))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    return written([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Count %d/Kids[" % count + kids + b"]>>", *[page] * count])


def characters(count: int, *, line: int = 100) -> bytes:
    """A page of so many characters in lines."""
    text = b"BT /F1 1 Tf 1 TL " + (b"(" + b"a" * line + b") Tj T* ") * (count // line) + b"ET"
    return document([deflated(text)])


def scattered(places: Iterable[tuple[float, float]], *, size: float = 1.0, pages: int = 1) -> bytes:
    """A page with one character at each place, and the same page again."""
    text = b"BT /F1 %g Tf " % size + b"".join(b"1 0 0 1 %.3f %.3f Tm (7) Tj " % place for place in places) + b"ET"
    return document([deflated(text)] * pages, box=b"[0 0 %g %g]" % (SIDE, SIDE))


def ladder(count: int) -> list[tuple[float, float]]:
    """Lines of two characters, each with a gap of its own between them."""
    return [place for at in range(count) for place in ((100.0 + at / 10, at * 1.4), (110.0 + at / 10, at * 1.4))]


def printed(lines: Iterable[Sequence[tuple[float, str]]], *, size: float = 8, step: float = 10) -> bytes:
    """The content of a page with these lines of texts at their places, from the top."""
    texts = [
        b"1 0 0 1 %.3f %.3f Tm (%b) Tj" % (left, 780 - step * at, text.encode())
        for at, line in enumerate(lines)
        for left, text in line
    ]
    return b"BT /F1 %g Tf " % size + b" ".join(texts) + b" ET"


def own_tables(page: int) -> bytes:
    """A page with a table that has its own headings and columns."""
    places = [20.0 + page % 7, 120.0 + page % 31, 260.0 + page % 53, 420.0 + page % 19]
    rows = [[f"{name} {page}" for name in ("Loan", "Obligor", "Par", "Price")]]
    rows += [[f"LX{page:04d}{at}", f"Alder {at}", f"{at * page:,}.00", f"{at}.25"] for at in range(6)]
    return printed([list(zip(places, row, strict=True)) for row in rows])


def small_tables(page: int) -> bytes:
    """A page with forty tables of two lines, each with other columns than the one above."""
    chance = Random(page)
    lines = []
    for _ in range(40):
        places = sorted(chance.sample(range(10, 600, 45), 4))
        lines += [[(float(place), f"N{place}") for place in places], [(float(place), f"{place}.5") for place in places]]
    return printed(lines, size=4, step=9)


def full_page(columns: int) -> bytes:
    """The content of a page of seventy lines with so many columns of seven digits."""
    lines = [
        b"1 0 0 1 9 %d Tm " % (780 - 11 * line)
        + b" ".join(b"(%07d) Tj %g 0 Td" % (line * columns + at, 600 / columns) for at in range(columns))
        for line in range(70)
    ]
    return b"BT /F1 %g Tf " % (80 / columns) + b" ".join(lines) + b" ET"


def long_cell(text: str, *, top: int = 600, pages: int = 1) -> Callable[[], bytes]:
    """A table, and below or above it a line with a text that is as long as a page may have."""
    escaped = text.replace("(", "\\(").replace(")", "\\)").encode("latin-1")
    line = b" BT /F1 0.2 Tf 40 %d Td (" % top + escaped + b") Tj 14000 0 Td (1.00) Tj ET"
    return lambda: document([deflated(TABLE + line)] * pages, box=b"[0 0 %g 792]" % SIDE)


def random_places(count: int) -> list[tuple[float, float]]:
    chance = Random(34)
    return [(chance.uniform(0, SIDE), chance.uniform(0, SIDE)) for _ in range(count)]


# Loops ----------------------------------------------------------------------------------------------------------------


def page_tree(*kids: bytes, root: bytes = b"", page: bytes = b"/Parent 2 0 R/MediaBox[0 0 612 792]") -> bytes:
    """A tree of pages with these nodes, the first of which is object 2; object 3 is a good page."""
    resources = b"/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R"
    nodes = [
        b"<</Type/Catalog/Pages 2 0 R" + root + b">>",
        kids[0],
        b"<</Type/Page" + resources + page + b">>",
        *(HELVETICA, stream(TABLE)),
        *kids[1:],
    ]
    return written(nodes)


def deep_page_tree(levels: int) -> bytes:
    """A page below so many nodes of one kid each."""
    nodes = [
        b"<</Type/Pages/Count 1/Kids[%d 0 R]/Parent %d 0 R>>" % (6 + at, 4 + at if at > 1 else 2)
        for at in range(1, levels)
    ]
    first = b"<</Type/Pages/Count 1/Kids[6 0 R]>>"
    return page_tree(first, *nodes, b"<</Type/Pages/Count 1/Kids[3 0 R]/Parent %d 0 R>>" % (4 + levels))


def nested(sign: bytes, depth: int) -> bytes:
    """A catalog with a value that is nested so deep."""
    return document(catalog=b"/X" + sign * depth)


def object_stream(entries: bytes, text: bytes = b"11 0 <</Type/Catalog/Pages 2 0 R>>") -> bytes:
    """A document whose catalog stands in an object stream, object 10, by a cross-reference stream."""
    head = b"%PDF-1.7\n"
    objects = [
        (2, b"<</Type/Pages/Count 1/Kids[4 0 R]>>"),
        (3, HELVETICA),
        (4, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>"),
        (5, stream(TABLE)),
        (10, stream(text, b"/Type/ObjStm/N 1/First 5" + entries)),
    ]
    out, places = bytearray(head), dict[int, int]()
    for number, each in objects:
        places[number] = len(out)
        out += b"%d 0 obj" % number + each + b"\nendobj\n"
    start = len(out)
    table = b""
    for number in range(13):
        if number in places:
            table += b"\x01" + places[number].to_bytes(3, "big") + b"\0"
        elif number == 11:
            table += b"\x02" + (10).to_bytes(3, "big") + b"\0"
        elif number == 12:
            table += b"\x01" + start.to_bytes(3, "big") + b"\0"
        else:
            table += b"\0" * 5
    out += b"12 0 obj" + stream(table, b"/Type/XRef/Size 13/W[1 3 1]/Root 11 0 R") + b"\nendobj\n"
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % start


def reference_stream(entries: bytes, table: bytes = b"") -> bytes:
    """A document that has nothing but a cross-reference stream with these entries behind its objects."""
    data = document()
    start = data.index(b"xref\n0 ")
    body = data[:start] + b"9 0 obj" + stream(table, b"/Type/XRef/Root 1 0 R" + entries) + b"\nendobj\n"
    return body + b"startxref\n%d\n%%%%EOF\n" % start


# Fonts and text -------------------------------------------------------------------------------------------------------


def truetype(file: bytes, widths: bytes = b"/FirstChar 32/LastChar 126/Widths[" + b"500 " * 95 + b"]") -> bytes:
    """A document in an embedded font of these bytes."""
    at = more_from()
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+Own/Encoding/WinAnsiEncoding/FontDescriptor %d 0 R" % at
    descriptor = b"<</Type/FontDescriptor/FontName/AAAAAA+Own/Flags 32/FontFile2 %d 0 R>>" % (at + 1)
    return document(font=font + widths + b">>", more=[descriptor, deflated(file)])


def type3(proc: bytes, *, matrix: bytes = b"[0.001 0 0 0.001 0 0]", resources: bytes = b"") -> bytes:
    """A document in a font whose every sign is drawn by these operators."""
    at = more_from()
    names = b"/".join(b"s%d" % code for code in range(32, 127))
    procs = b"".join(b"/s%d %d 0 R" % (code, at) for code in range(32, 127))
    font = b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix" + matrix + b"/CharProcs<<" + procs
    font += b">>/Encoding<</Type/Encoding/Differences[32/" + names + b"]>>/FirstChar 32/LastChar 126/Widths["
    font += b"500 " * 95 + b"]/Resources<<" + resources + b">>"
    to_unicode = b"1 begincodespacerange <00><ff> endcodespacerange 1 beginbfrange <20><7e><0020> endbfrange"
    return document(font=font + b"/ToUnicode %d 0 R>>" % (at + 1), more=[stream(proc), stream(to_unicode)])


def to_unicode(text: bytes, font: bytes = b"/Type/Font/Subtype/Type1/BaseFont/Helvetica") -> bytes:
    """A document whose font says by these lines what its codes are."""
    return document(font=b"<<" + font + b"/ToUnicode %d 0 R>>" % more_from(), more=[deflated(text)])


def two_byte_font(more: bytes, descendant: bytes = b"") -> bytes:
    """A document in a font of two bytes for each sign."""
    at = more_from()
    font = b"<</Type/Font/Subtype/Type0/BaseFont/Own/Encoding/Identity-H/DescendantFonts[%d 0 R]" % at + more + b">>"
    kid = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Own/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
    kid += b"/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/Own/Flags 4>>" + descendant + b">>"
    return document(font=font, more=[kid])


def odd_text(codes: Iterable[int]) -> bytes:
    """A document whose letters a, b, c, ... stand for these codes in UTF-16, digits for themselves."""
    lines = [b"<%02x> <%04x>" % (ord("a") + at, code) for at, code in enumerate(codes)]
    own = b"%d beginbfchar\n" % len(lines) + b"\n".join(lines) + b"\nendbfchar\n"
    own += b"2 beginbfrange <20><60><0020> <41><5a><0041> endbfrange\n"
    return to_unicode(b"1 begincodespacerange <00><ff> endcodespacerange\n" + own)


# Other things ---------------------------------------------------------------------------------------------------------


def actions() -> bytes:
    """A table beside programs, files and addresses that a viewer may start."""
    at = more_from()
    catalog = b"/OpenAction<</S/JavaScript/JS(while\\(true\\){})>>/AA<</WC<</S/Launch/F(/bin/sh)>>>>"
    catalog += b"/Names<</EmbeddedFiles<</Names[(a.exe) %d 0 R]>>/JavaScript<</Names[(b)<</S/JavaScript/JS" % at
    catalog += b"(app.launchURL\\('http://example.org'\\))>>]>>>>/AcroForm<</XFA %d 0 R>>" % (at + 1)
    page = b"/AA<</O<</S/Launch/F(calc.exe)>>>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 612 792]/A<</S/URI"
    page += b"/URI(http://example.org)>>>><</Type/Annot/Subtype/FileAttachment/Rect[0 0 1 1]/FS %d 0 R>>]" % at
    more = [b"<</Type/Filespec/F(a.exe)/EF<</F %d 0 R>>>>" % (at + 2), stream(b"<xdp:xdp/>"), stream(b"MZ\x90")]
    return document(catalog=catalog, page=page, more=more)


def picture(width: int, height: int, data: bytes, *, text: bytes = b"") -> bytes:
    """A page that shows a picture of so many dots."""
    entries = b"/Type/XObject/Subtype/Image/ColorSpace/DeviceGray/BitsPerComponent 8/Width %d/Height %d" % (
        width,
        height,
    )
    resources = b"/XObject<</I %d 0 R>>" % more_from()
    return document([text + b" q 612 0 0 792 0 0 cm /I Do Q"], resources=resources, more=[deflated(data, entries)])


def encrypted(entries: bytes) -> bytes:
    """A document that claims to be encrypted so."""
    return document(trailer=b"/Encrypt<</Filter/Standard" + entries + b">>/ID[<00><00>]")


def locked() -> bytes:
    """A document that wants a password."""
    out = BytesIO()
    with pikepdf.open(BytesIO(document())) as pdf:
        pdf.save(out, encryption=pikepdf.Encryption(owner="owner", user="a secret"))
    return out.getvalue()


def zipped(data: bytes) -> bytes:
    """An archive with a document in it."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("report.pdf", data)
    return out.getvalue()


def xlsx() -> bytes:
    """The table as a workbook."""
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Loans")
        for at, row in enumerate(TABLE_CELLS):
            sheet.write_row(at, 0, row)
    return out.getvalue()


def garbage(sign: bytes, megabytes: int = 20, head: bytes = b"%PDF-1.7\n", tail: bytes = b"") -> bytes:
    """So much of one sign behind the mark."""
    return head + sign * (megabytes * 2**20 // len(sign)) + tail


def page_of(content: bytes) -> Callable[[], bytes]:
    """A page whose content is the table, and these operators."""
    return lambda: document([deflated(TABLE + b"\n" + content)])


def first_of(content: bytes) -> Callable[[], bytes]:
    """The same with the operators in front."""
    return lambda: document([deflated(content + b"\n" + TABLE)])


def boxed(box: bytes) -> Callable[[], bytes]:
    """A page of this size."""
    return partial(document, box=box)


def placed(matrix: bytes) -> Callable[[], bytes]:
    """The table below this matrix."""
    return first_of(matrix + b" cm")


SHADING: Final = b"/Pattern<</P %d 0 R>>" % more_from()
PATTERN: Final = stream(
    b"/Pattern cs /P scn 0 0 9 9 re f",
    b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 0.0001/YStep 0.0001/Resources<<"
    + SHADING
    + b">>",
)

FILES: Final[dict[str, HostileFile]] = {
    # Bombs.
    "a content of 2 GB": HostileFile(partial(flate_bomb, 2), EITHER),
    "a content of 2 GB, deflated three times": HostileFile(partial(flate_bomb, 2, times=3), EITHER),
    "a content of 1 GB of operators": HostileFile(partial(flate_bomb, 1, sign=b"q\n"), EITHER),
    "a content that is deflated fifty times": HostileFile(lambda: document([deflated(TABLE, times=50)]), EITHER),
    "a content that names a stream a million times": HostileFile(partial(shared_content, 1_000_000, 1_000), EITHER),
    "forms that double thirty times": HostileFile(partial(forms, 30, 2, b""), EITHER),
    "forms that show text and double twenty times": HostileFile(
        partial(forms, 20, 2, b"BT /F1 1 Tf (a) Tj ET"), EITHER
    ),
    "pages that double thirty times": HostileFile(partial(pages_doubled, 30), "."),
    "pages that double twenty times": HostileFile(partial(pages_doubled, 20), "."),
    "a page that is listed a million times": HostileFile(partial(one_page_often, 1_000_000), "pages"),
    "a million empty pages": HostileFile(partial(empty_pages, 1_000_000), "pages"),
    "a page of 5 million characters": HostileFile(partial(characters, 5_000_000), "characters"),
    "a page of 5 million characters in one line": HostileFile(partial(characters, 5_000_000, line=5_000_000), EITHER),
    "2,000 pages of 50,000 characters": HostileFile(
        lambda: one_page_often(2_000, full_page(100)), "characters", is_slow=True
    ),
    "2,000 pages of 4,900 characters": HostileFile(lambda: one_page_often(2_000, full_page(10)), EITHER, is_slow=True),
    "100,000 columns": HostileFile(
        lambda: scattered(((at / 7, 700) for at in range(100_000)), size=0.05), "characters"
    ),
    "29,000 columns": HostileFile(lambda: scattered(((at / 2.1, 700) for at in range(29_000)), size=0.2), EITHER),
    "19,000 lines": HostileFile(lambda: scattered(((70, at / 1.4) for at in range(19_000)), size=0.5), EITHER),
    "19,000 characters anywhere": HostileFile(lambda: scattered(random_places(19_000)), EITHER),
    "19,000 characters on a diagonal": HostileFile(
        lambda: scattered(((at / 1.4, at / 1.4) for at in range(19_000)), size=0.5), EITHER
    ),
    "9,000 lines with gaps of their own": HostileFile(lambda: scattered(ladder(9_000)), EITHER),
    "100 pages with 19,000 characters anywhere": HostileFile(
        lambda: scattered(random_places(19_000), pages=100), EITHER, is_slow=True
    ),
    "100 pages of 9,000 lines with gaps of their own": HostileFile(
        lambda: scattered(ladder(9_000), pages=100), EITHER, is_slow=True
    ),
    "100 pages of 29,000 columns": HostileFile(
        lambda: scattered(((at / 2.1, 700) for at in range(29_000)), size=0.2, pages=100), EITHER, is_slow=True
    ),
    "2,000 tables of their own": HostileFile(
        lambda: document([own_tables(page) for page in range(2_000)]), EITHER, is_slow=True
    ),
    "200 tables of their own": HostileFile(lambda: document([own_tables(page) for page in range(200)]), EITHER),
    "forty tables on each of 100 pages": HostileFile(
        lambda: document([small_tables(page) for page in range(100)]), EITHER
    ),
    "a figure of 29,000 digits": HostileFile(long_cell("1" * 29_000), EITHER),
    "an amount of 29,000 digits": HostileFile(long_cell("$ " + "1" * 29_000 + "x"), EITHER),
    "a figure of 29,000 points": HostileFile(long_cell("1." * 14_500), EITHER),
    "a figure with 29,000 marks": HostileFile(long_cell("1" + "*" * 29_000 + "x"), EITHER),
    "a figure with 9,000 numbered marks": HostileFile(long_cell("1" + "[1]," * 9_000 + "x"), EITHER),
    "29,000 brackets": HostileFile(long_cell("[" * 29_000), EITHER),
    "29,000 brackets in a title": HostileFile(long_cell("(" * 29_000, top=740), EITHER),
    "29,000 brackets in a title on two pages": HostileFile(long_cell("(" * 29_000, top=740, pages=2), EITHER),
    "29,000 leading points": HostileFile(long_cell("." * 29_000 + "x"), EITHER),
    "29,000 leading points apart": HostileFile(long_cell(". " * 14_500 + "x"), EITHER),
    "29,000 raised figures": HostileFile(long_cell("\xb9" * 29_000 + "x"), EITHER),
    "29,000 digits in a title": HostileFile(long_cell("1" * 29_000 + "x", top=740), EITHER),
    "29,000 digits and a sign": HostileFile(long_cell("1" * 29_000 + "-"), EITHER),
    "page 1 of 1 of 1": HostileFile(long_cell("page 1 of 1 " * 2_400, top=740, pages=2), EITHER),
    "a word of 29,000 hyphens": HostileFile(long_cell("-" * 29_000), EITHER),
    "10,000 words in a cell": HostileFile(long_cell("ab " * 10_000), EITHER),
    "50,000 characters at one place": HostileFile(lambda: scattered([(70, 700)] * 50_000), EITHER),
    # Loops.
    "pages among their own kids": HostileFile(lambda: page_tree(b"<</Type/Pages/Count 9/Kids[2 0 R 3 0 R]>>"), EITHER),
    "pages with their own parent as a kid": HostileFile(
        lambda: page_tree(
            b"<</Type/Pages/Count 2/Kids[6 0 R 3 0 R]>>", b"<</Type/Pages/Count 2/Parent 2 0 R/Kids[2 0 R 3 0 R]>>"
        ),
        EITHER,
    ),
    "the catalog as a page": HostileFile(lambda: page_tree(b"<</Type/Pages/Count 2/Kids[1 0 R 3 0 R]>>"), EITHER),
    "a page that is its own parent": HostileFile(
        lambda: page_tree(b"<</Type/Pages/Count 1/Kids[3 0 R]>>", page=b"/Parent 3 0 R"), EITHER
    ),
    "a page below ten thousand nodes": HostileFile(partial(deep_page_tree, TEN_THOUSAND), EITHER),
    "no pages, and a count of a billion": HostileFile(
        lambda: page_tree(b"<</Type/Pages/Count 1000000000/Kids[]>>"), "."
    ),
    "a negative count of pages": HostileFile(lambda: page_tree(b"<</Type/Pages/Count -1/Kids[3 0 R]>>"), EITHER),
    "a count of 2,000,000,000 for one page": HostileFile(
        lambda: page_tree(b"<</Type/Pages/Count 2000000000/Kids[3 0 R]>>"), EITHER
    ),
    "a table of objects before itself": HostileFile(partial(document, prev="itself"), EITHER),
    "a table of objects before itself, as a stream": HostileFile(
        partial(reference_stream, b"/Size 9/W[1 2 1]/Prev 9", b"\0" * 36), EITHER
    ),
    "a table of objects for a billion": HostileFile(
        partial(reference_stream, b"/Size 1000000000/W[1 2 1]/Index[0 1000000000]", b"\0" * 36), EITHER
    ),
    "a table of objects with wide fields": HostileFile(
        partial(reference_stream, b"/Size 9/W[2147483647 2147483647 2147483647]", b"\0" * 36), EITHER
    ),
    "a table of objects with negative fields": HostileFile(
        partial(reference_stream, b"/Size 9/W[-1 -2 1]/Index[-5 9]", b"\0" * 36), EITHER
    ),
    "forms that show themselves": HostileFile(partial(forms, 1, 1, b"", to_first=True), EITHER),
    "forms that show each other twice": HostileFile(partial(forms, 5, 2, b"", to_first=True), EITHER),
    "an object stream": HostileFile(partial(object_stream, b""), READ),
    "an object stream that extends itself": HostileFile(partial(object_stream, b"/Extends 10 0 R"), READ),
    "an object stream with a billion objects": HostileFile(partial(object_stream, b"/N 1000000000"), EITHER),
    "an object stream that begins below itself": HostileFile(partial(object_stream, b"/First -5"), EITHER),
    "an object stream in itself": HostileFile(partial(object_stream, b"", b"10 0 <</Type/ObjStm>>"), EITHER),
    "a length that is its own stream": HostileFile(
        lambda: document([stream(TABLE, length=f"{FIRST_PAGE + 1} 0 R")]), EITHER
    ),
    "a negative length": HostileFile(lambda: document([stream(TABLE, length=-1)]), EITHER),
    "a length of gigabytes": HostileFile(lambda: document([stream(TABLE, length=2**33)]), EITHER),
    "a length of 2 GB": HostileFile(lambda: document([stream(TABLE, length=2**31 - 1)]), EITHER),
    "a pattern in itself": HostileFile(
        lambda: document([TABLE + b" /Pattern cs /P scn 0 0 600 700 re f"], resources=SHADING, more=[PATTERN]), READ
    ),
    "arrays a million deep": HostileFile(partial(nested, b"[", 1_000_000), EITHER),
    "dictionaries a million deep": HostileFile(partial(nested, b"<</X", 1_000_000), EITHER),
    # Pages.
    "a page of no size": HostileFile(boxed(b"[0 0 0 0]"), EITHER),
    "a page of a billion points": HostileFile(boxed(b"[0 0 1000000000 1000000000]"), EITHER),
    "a page of 1e38 points": HostileFile(boxed(b"[0 0 1" + b"0" * 38 + b" 1" + b"0" * 38 + b"]"), EITHER),
    "a page of no number": HostileFile(boxed(b"[0 0 NaN NaN]"), EITHER),
    "a page with three edges": HostileFile(boxed(b"[0 0 612]"), EITHER),
    "a page from right to left": HostileFile(boxed(b"[612 792 0 0]"), READ),
    "a page far away": HostileFile(boxed(b"[100000 100000 100612 100792]"), EITHER),
    "a page turned by 45 degrees": HostileFile(partial(document, page=b"/Rotate 45"), EITHER),
    "a page turned often": HostileFile(partial(document, page=b"/Rotate 36000000"), READ),
    "a page in units of a billion": HostileFile(partial(document, page=b"/UserUnit 1000000000"), EITHER),
    "a table at places of a billion": HostileFile(placed(b"1 0 0 1 1e9 1e9"), EITHER),
    "a table enlarged a billion times": HostileFile(placed(b"1000000000 0 0 1000000000 0 0"), EITHER),
    "a table as small as nothing": HostileFile(placed(b"0.0000001 0 0 0.0000001 0 0"), EITHER),
    "a table in no space": HostileFile(placed(b"0 0 0 0 0 0"), EITHER),
    "a table of no numbers": HostileFile(placed(b"NaN 0 0 NaN Infinity 0"), EITHER),
    "a table that is sheared": HostileFile(placed(b"1 0.3 2 1 0 0"), EITHER),
    "letters of a million points": HostileFile(page_of(b"BT /F1 1000000 Tf 40 600 Td (Alder) Tj ET"), EITHER),
    "letters of 1e30 points": HostileFile(page_of(b"BT /F1 1" + b"0" * 30 + b" Tf 40 600 Td (Alder) Tj ET"), EITHER),
    "letters of no size": HostileFile(page_of(b"BT /F1 0 Tf 40 600 Td (Alder) Tj ET"), EITHER),
    "letters of less than no size": HostileFile(page_of(b"BT /F1 -10 Tf 540 600 Td (Alder) Tj ET"), EITHER),
    "letters far apart": HostileFile(page_of(b"BT /F1 9 Tf 1e9 Tc 1e9 Tw 99999 Tz 9 9 Td (A l) Tj ET"), EITHER),
    # Contents.
    "ten million states without an end": HostileFile(first_of(b"q " * 10_000_000), EITHER),
    "ten million ends without a state": HostileFile(first_of(b"Q " * 10_000_000), READ),
    "ten million numbers": HostileFile(first_of(b"1 " * 10_000_000), READ),
    "a million marks without an end": HostileFile(first_of(b"/P <</MCID 1>> BDC " * 1_000_000), EITHER),
    "an array of five million numbers": HostileFile(page_of(b"BT [" + b"0 " * 5_000_000 + b"] TJ ET"), READ),
    "arrays without an end": HostileFile(page_of(b"[" * 5_000_000), READ),
    "dictionaries without an end": HostileFile(page_of(b"<<" * 2_500_000), EITHER),
    "a text without an end": HostileFile(page_of(b"BT /F1 1 Tf (" + b"(" * 5_000_000), EITHER),
    "a picture in the content without an end": HostileFile(page_of(b"BI /W 99999 /H 99999 /BPC 8 /CS /G ID 1"), READ),
    "a million lines and boxes": HostileFile(page_of(b"1 1 9 9 re 1 1 m 9 9 l S " * 1_000_000), READ),
    "a path of five million points": HostileFile(page_of(b"1 1 m " + b"9 9 l " * 5_000_000 + b"S"), READ),
    # Fonts and text.
    "a font without a glyph": HostileFile(partial(truetype, b"\0\1\0\0" + b"\0" * 100), READ),
    "a font of random bytes": HostileFile(lambda: truetype(b"\0\1\0\0" + Random(34).randbytes(50_000)), READ),
    "a font that unpacks to 1 GB": HostileFile(lambda: font_bomb(), EITHER),
    "a font with 10 million widths": HostileFile(
        lambda: truetype(b"", b"/FirstChar 0/LastChar 9999999/Widths[" + b"500 " * 10_000_000 + b"]"), EITHER
    ),
    "a font from -1 to 2,147,483,647": HostileFile(
        partial(truetype, b"", b"/FirstChar -1/LastChar 2147483647/Widths[500]"), EITHER
    ),
    "a font that shows itself": HostileFile(
        partial(type3, b"1000 0 d0 BT /F1 9 Tf (Alder) Tj ET", resources=b"/Font<</F1 3 0 R>>"), READ
    ),
    "a font of no size": HostileFile(partial(type3, b"500 0 d0", matrix=b"[0 0 0 0 0 0]"), EITHER),
    "a font enlarged a billion times": HostileFile(partial(type3, b"500 0 d0", matrix=b"[1e9 0 0 1e9 0 0]"), EITHER),
    "a font that is no font": HostileFile(partial(document, font=b"[3 0 R]"), EITHER),
    "a font that is itself": HostileFile(partial(document, font=b" 3 0 R"), EITHER),
    "a font with itself inside": HostileFile(
        partial(document, font=b"<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[3 0 R]>>"), EITHER
    ),
    "a font whose codes mean 65,536 texts": HostileFile(
        lambda: to_unicode(b"beginbfrange " + b"<0000> <ffff> <0041>\n" * 2_000 + b"endbfrange"), EITHER
    ),
    "a font whose codes mean long texts": HostileFile(
        lambda: to_unicode(b"beginbfchar " + b"<41> <" + b"0041" * 100_000 + b">\n" + b"endbfchar"), EITHER
    ),
    "a font whose codes mean 4 billion texts": HostileFile(
        partial(to_unicode, b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange"), EITHER
    ),
    "a font whose codes use themselves": HostileFile(partial(to_unicode, b"/Own usecmap /ToUnicode usecmap"), READ),
    "a font with widths to 2,147,483,647": HostileFile(
        partial(two_byte_font, b"", b"/W[0 2147483647 500 -1 [1 2 3]]/DW -2147483648"), EITHER
    ),
    "signs that are not printed": HostileFile(lambda: odd_text(range(26)), EITHER),
    "lone surrogates": HostileFile(lambda: odd_text([0xD800, 0xDC00, 0xDFFF, 0xDBFF] * 6), EITHER),
    "signs that turn the direction": HostileFile(lambda: odd_text([0x202E, 0x200F, 0x2066, 0xFEFF] * 6), EITHER),
    "signs for private use": HostileFile(lambda: odd_text(range(0xE000, 0xE01A)), EITHER),
    "signs that are none": HostileFile(lambda: odd_text([0xFFFE, 0xFFFF, 0xFDD0, 0xFFFD] * 6), EITHER),
    # Other things.
    "programs, files and addresses": HostileFile(actions, READ),
    "a picture of 10,000 million dots": HostileFile(partial(picture, 100_000, 100_000, b"\0", text=TABLE), READ),
    "a picture alone": HostileFile(partial(picture, 100, 100, b"\0" * 10_000), "scan|picture|text"),
    "no page with anything": HostileFile(partial(document, [b""]), "."),
    "a document that wants a password": HostileFile(locked, "password"),
    "an encryption of version 99": HostileFile(partial(encrypted, b"/V 99/R 99/Length 128/O()/U()/P -1"), "."),
    "an encryption with a key of no length": HostileFile(
        partial(encrypted, b"/V 2/R 3/Length -8/O(" + b"a" * 32 + b")/U(" + b"a" * 32 + b")/P -1"), "."
    ),
    "an encryption that is nothing": HostileFile(partial(document, trailer=b"/Encrypt 99 0 R"), EITHER),
    "an encryption that is its own page": HostileFile(partial(document, trailer=b"/Encrypt 4 0 R"), EITHER),
    "the mark alone": HostileFile(lambda: b"%PDF-", "."),
    "the mark and an end": HostileFile(lambda: b"%PDF-1.7\n%%EOF", "."),
    "20 MB of zeros": HostileFile(partial(garbage, b"\0"), "."),
    "100 MB of brackets": HostileFile(partial(garbage, b"[", 99), "."),
    "20 MB of parentheses": HostileFile(partial(garbage, b"("), "."),
    "20 MB of beginnings of dictionaries": HostileFile(partial(garbage, b"<<"), "."),
    "20 MB of beginnings of objects": HostileFile(partial(garbage, b"1 0 obj\n"), "."),
    "20 MB of objects": HostileFile(partial(garbage, b"1 0 obj<<>>endobj\n"), "."),
    "20 MB of trailers": HostileFile(partial(garbage, b"trailer<</Root 1 0 R>>\n"), "."),
    "20 MB of noise": HostileFile(lambda: b"%PDF-1.7\n" + Random(34).randbytes(20 * 2**20), "."),
    "100 MB of noise behind a table": HostileFile(lambda: document() + Random(34).randbytes(99 * 2**20), EITHER),
    "a mark of Unicode before the mark": HostileFile(partial(document, head=b"\xef\xbb\xbf%PDF-1.7\n"), READ),
    "junk before the mark": HostileFile(lambda: b"HTTP/1.1 200 OK\r\n\r\n" + document(), READ),
    "1,000 bytes before the mark": HostileFile(lambda: b"\n" * 1_000 + document(), READ),
    "a document in an archive": HostileFile(lambda: zipped(document()), READ, "hostile.zip"),
    "a bomb in an archive": HostileFile(lambda: zipped(pages_doubled(30)), ".", "hostile.zip"),
    "an archive by the name of a document": HostileFile(lambda: zipped(document()), READ),
    "a workbook by the name of a document": HostileFile(xlsx, READ),
    "a document by the name of a workbook": HostileFile(document, READ, "hostile.xlsx"),
    "a document by the name of a text": HostileFile(document, READ, "hostile.csv"),
}


def font_bomb() -> bytes:
    """A font file of 1 GB in 1 MB."""
    at = more_from()
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/Own/Encoding/WinAnsiEncoding/FontDescriptor %d 0 R>>" % at
    descriptor = b"<</Type/FontDescriptor/FontName/Own/Flags 32/FontFile2 %d 0 R>>" % (at + 1)
    return document(font=font, more=[descriptor, stream(repeated_deflated(bytes(2**20), 1024, b"\0\1\0\0"), FLATE)])


def has_table(book: Workbook) -> Outcome:
    """Whether the rows of the table stand below one another on a sheet; blank ones between them are no matter here."""
    for sheet in book.sheets:
        rows = [[sheet.value(row, column) for column in range(sheet.column_count)] for row in range(sheet.row_count)]
        shown = [[value for value in row if value not in (None, "")] for row in rows if any(row)]
        if any(shown[at : at + len(TABLE_CELLS)] == TABLE_CELLS for at in range(len(shown))):
            return Outcome("read", "the table")
    return Outcome("read", "another table")


def main(words: str) -> None:
    """Print what becomes of each document whose name has these words."""
    with TemporaryDirectory() as name, pool() as process:
        folder = Path(name)
        (folder / "out").mkdir()
        for title, file in FILES.items():
            if words in title:
                path = folder / file.name
                path.write_bytes(file.build())
                outcome = process.submit(read_in_fork, path, folder / "out", has_table, 120.0).result()
                print(f"{title}: {outcome.result}, {outcome.text} {outcome.seconds:.2f} s, {outcome.megabytes:,} MB")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
