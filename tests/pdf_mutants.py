"""PDF documents that were altered at random, each read in a confined child.

`python -m tests.pdf_mutants --count 2000 --seed 34` alters small documents of several programs and prints what became
of the mutants. A mutant passes where it is read, or refused in plain words, within the limit of seconds, and nothing of
it is left in the folder. A crash of the library ends its child and reads as a refusal; these are counted.

Each mutant is read by a fork (`tests.forked_child`). Some are read by `read_isolated`, too, and must come to the same
end.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pikepdf
import regex
import typst
import xlsxwriter
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

from core.files.errors import FileRefused
from core.files.isolate import read_isolated
from tests.forked_child import BAD, Outcome, checked_hint, checked_pages, pool, read_in_fork
from tests.raw_pdf import document

CHANGES_MAX: Final = 3
WITHOUT_BASE: Final = 5
"""Each mutant whose number this divides is drawn at random."""
ROWS: Final = 24
PAGES: Final = 2
HEADER: Final = ("Loan ID", "Borrower", "Industry", "Par Amount", "Price", "Spread", "Maturity")

# Base documents -------------------------------------------------------------------------------------------------------


def loans(page: int) -> list[tuple[str, ...]]:
    """The rows of a page as they are printed."""
    chance = Random(page)
    return [
        (
            f"LX{page * ROWS + at:05d}",
            f"{chance.choice(('Alder', 'Birch', 'Cedar', 'Fir'))} {chance.choice(('Media', 'Foods', 'Office'))} {at}",
            chance.choice(("Software", "Health Care", "Chemicals")),
            f"{chance.randint(100, 9_000) * 1000:,}.00",
            f"{chance.randint(8_000, 10_100) / 100:.2f}",
            f"{chance.randint(250, 700) / 100:.2f}%",
            f"{chance.randint(1, 28):02d}-Sep-20{chance.randint(27, 33)}",
        )
        for at in range(ROWS)
    ]


def by_reportlab(*, wide: bool = False, turned: bool = False) -> bytes:
    """A table with a running header, drawn text by text; wide, and turned by a quarter."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=landscape(A4) if wide else A4, invariant=1)
    step = 110 if wide else 78
    for page in range(PAGES):
        if turned:
            canvas.setPageRotation(90)
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(30, 560, "Schedule of Collateral Obligations")
        canvas.drawString(30, 20, f"Page {page + 1} of {PAGES}")
        for line, row in enumerate([HEADER, *loans(page)]):
            canvas.setFont("Helvetica-Bold" if line == 0 else "Helvetica", 7)
            for at, text in enumerate(row):
                canvas.drawString(30 + at * step, 530 - line * 14, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def by_typst() -> bytes:
    """The same rows as a table of typst's, in embedded fonts with tags."""
    pages = []
    for page in range(PAGES):
        cells = [text for row in [HEADER, *loans(page)] for text in row]
        pages.append(f"#table(columns: {len(HEADER)}, {', '.join(f'[{text}]' for text in cells)})")
    source = '#set page(paper: "a4", flipped: true)\n#set text(size: 8pt)\n' + "\n#pagebreak()\n".join(pages)
    data = typst.compile(source.encode(), ignore_system_fonts=True)
    assert isinstance(data, bytes)
    return data


def by_soffice(folder: Path) -> bytes:
    """The same rows as LibreOffice exports a workbook."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "this wants LibreOffice Calc"
    path = folder / "base.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Loans")
        sheet.set_landscape()
        sheet.set_column(0, len(HEADER) - 1, 16)
        for at, row in enumerate([HEADER, *loans(0), *loans(1)]):
            sheet.write_row(at, 0, row)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    return (folder / "base.pdf").read_bytes()


def rewritten(data: bytes, **options: Any) -> bytes:
    """A document as pikepdf saves it."""
    out = BytesIO()
    with pikepdf.open(BytesIO(data)) as pdf:
        pdf.save(out, **options)
    return out.getvalue()


SAVED: Final[dict[str, dict[str, Any]]] = {
    "object streams": {"object_stream_mode": pikepdf.ObjectStreamMode.generate},
    "plain text": {"qdf": True, "object_stream_mode": pikepdf.ObjectStreamMode.disable},
    "linearised": {"linearize": True},
    "encrypted, AES": {"encryption": pikepdf.Encryption(owner="owner", user="", R=6)},
    "encrypted, RC4": {"encryption": pikepdf.Encryption(owner="owner", user="", R=3, aes=False, metadata=False)},
}
"""How base documents are saved anew."""


def base_documents(folder: Path) -> dict[str, bytes]:
    """The documents that are altered, by name."""
    first = {
        "reportlab": by_reportlab(),
        "reportlab, turned": by_reportlab(wide=True, turned=True),
        "typst": by_typst(),
        "soffice": by_soffice(folder),
        "by hand": document(),
    }
    more = {
        f"{name}, {how}": rewritten(data, **options)
        for at, (name, data) in enumerate(first.items())
        for turn, (how, options) in enumerate(SAVED.items())
        if name == "reportlab" or at == turn % len(first)
    }
    return first | more


# Changes --------------------------------------------------------------------------------------------------------------

KEYS: Final = (
    *("BitsPerComponent", "CFM", "Columns", "Contents", "Count", "DW", "DescendantFonts", "DecodeParms", "Differences"),
    *("Encoding", "Encrypt", "Extends", "Filter", "First", "FirstChar", "FontBBox", "FontDescriptor", "FontFile2"),
    *("FontMatrix", "ID", "Index", "Kids", "LastChar", "Length", "Length1", "MediaBox", "N", "O", "P", "Parent"),
    *("Predictor", "Prev", "R", "Resources", "Root", "Rotate", "Size", "Subtype", "ToUnicode", "Type", "U", "V", "W"),
    *("Widths", "XRefStm"),
)
_KEYED: Final = regex.compile(rb"/(?:" + "|".join(KEYS).encode() + rb")(?=[\s/\[<(\d-])")
_VALUE: Final = regex.compile(rb"\s*(?:\[[^\]]{0,400}\]|\d+ \d+ R|-?[\d.]+|/\w+|<<|<[0-9a-fA-F]*>|\w+)")
_OBJECT: Final = regex.compile(rb"\d+ \d+ obj\b.*?endobj", regex.DOTALL)
_NUMBER: Final = regex.compile(rb"-?\d+(?:\.\d+)?")
_REFERENCE: Final = regex.compile(rb"(\d+)( \d+ R)")
_STREAM: Final = regex.compile(rb"stream\r?\n(.*?)\r?\nendstream", regex.DOTALL)
_XREF: Final = regex.compile(rb"\nxref\b.*|startxref\s+\d+", regex.DOTALL)
VALUES: Final = (
    *(b"0", b"-1", b"1", b"2147483647", b"2147483648", b"-2147483648", b"4294967295", b"9999999999", b"1e9", b"NaN"),
    *(b"0.0000001", b"null", b"true", b"[]", b"[[[[[[[[]]]]]]]]", b"<<>>", b"<00ff>", b"(text)", b"/FlateDecode", b"/"),
    *(b"[/FlateDecode/FlateDecode]", b"/ASCII85Decode", b"/LZWDecode", b"/DCTDecode", b"/JBIG2Decode", b"/Crypt"),
    *(b"[0 0 0 0]", b"[0 0 1e9 1e9]", b"[1 1 1]", b"[8 8 8]", b"[0 -1 0]", b"[-100 -100 -200 -200]", b"/Identity-H"),
    *(b"1 0 R", b"2 0 R", b"3 0 R", b"4 0 R", b"5 0 R", b"99999 0 R", b"[2 0 R 2 0 R]", b"[" + b"9 " * 200 + b"]"),
)  # fmt: skip
"""What a value of a key becomes."""
TOKENS: Final = tuple(
    b" " + token + b" "
    for token in (
        *(b"1e38", b"-1e38", b"99999999999999999999", b"0", b"-0.00001", b"NaN", b"q q q q", b"Q Q Q", b"BT", b"ET"),
        *(b"Do", b"Tf", b"Tm", b"() Tj", b"(", b")", b"<", b">", b"[", b"]", b"BI ID EI", b"/F9 9 Tf", b"<<>> BDC"),
        *(b"1 0 0 0 0 0 Tm", b"0 0 0 0 0 0 cm", b"1e9 0 0 1e9 0 0 cm", b"\x00", b"\xff\xfe", b"%"),
    )
)
"""What is put into a stream."""


def places_of(pattern: regex.Pattern[bytes], data: bytes, chance: Random) -> tuple[int, int]:
    """Where a random match of a pattern stands, or a random spot."""
    spans = [match.span() for match in pattern.finditer(data)]
    return chance.choice(spans) if spans else (at := chance.randrange(len(data) + 1), at)


def flip(data: bytes, chance: Random) -> bytes:
    """Some bits are others."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 20))):
        if out:
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def scribble(data: bytes, chance: Random) -> bytes:
    """A block is random."""
    at, size = chance.randrange(len(data) + 1), chance.choice((1, 4, 30, 300))
    return data[:at] + chance.randbytes(size) + data[at + size :]


def delete(data: bytes, chance: Random) -> bytes:
    """A block is missing."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.choice((1, 2, 10, 100, 1000)) :]


def insert(data: bytes, chance: Random) -> bytes:
    """Random bytes stand between."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 2, 10, 100))) + data[at:]


def truncate(data: bytes, chance: Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(len(data) + 1)]


def duplicate(data: bytes, chance: Random) -> bytes:
    """A block stands twice, or many times, here or elsewhere."""
    at, size, to = chance.randrange(len(data) + 1), chance.choice((4, 40, 400, 4_000)), chance.randrange(len(data) + 1)
    return data[:to] + data[at : at + size] * chance.choice((1, 2, 50)) + data[to:]


def swap_objects(data: bytes, chance: Random) -> bytes:
    """Two objects have changed their places."""
    spans = [match.span() for match in _OBJECT.finditer(data)]
    if len(spans) < 2:
        return flip(data, chance)
    (start, end), (second, last) = sorted(chance.sample(spans, 2))
    return data[:start] + data[second:last] + data[end:second] + data[start:end] + data[last:]


def swap_numbers(data: bytes, chance: Random) -> bytes:
    """An object has the number of another."""
    spans = [match.span() for match in _OBJECT.finditer(data)]
    if len(spans) < 2:
        return flip(data, chance)
    (start, _), (second, _) = chance.sample(spans, 2)
    return data[:start] + data[second:].split(b" ", 1)[0] + b" " + data[start:].split(b" ", 1)[1]


def change_key(data: bytes, chance: Random) -> bytes:
    """The value of a key is another; what follows moves, or keeps its place where there is room."""
    _, end = places_of(_KEYED, data, chance)
    value = _VALUE.match(data, end)
    last = value.end() if value else end
    text = b" " + chance.choice(VALUES)
    return data[:end] + (text.ljust(last - end) if chance.random() < 0.7 else text) + data[last:]


def change_reference(data: bytes, chance: Random) -> bytes:
    """A reference is to another object."""
    numbers = [match[1] for match in _REFERENCE.finditer(data)]
    start, end = places_of(_REFERENCE, data, chance)
    if not numbers or start == end:
        return change_key(data, chance)
    number, _, rest = data[start:end].partition(b" ")
    return data[:start] + chance.choice(numbers).rjust(len(number)) + b" " + rest + data[end:]


def change_xref(data: bytes, chance: Random) -> bytes:
    """Numbers in the table of objects are others."""
    start, end = places_of(_XREF, data, chance)
    part = data[start:end]
    for _ in range(chance.choice((1, 5))):
        place, stop = places_of(_NUMBER, part, chance)
        number = b"%d" % chance.choice((0, 1, 9, 100, start, len(data), 10**9, chance.randrange(len(data) + 1)))
        part = part[:place] + number.rjust(stop - place, b"0") + part[stop:]
    return data[:start] + part + data[end:]


def change_number(data: bytes, chance: Random) -> bytes:
    """Some number is another."""
    start, end = places_of(_NUMBER, data, chance)
    return data[:start] + chance.choice((b"0", b"-1", b"99999", b"2147483648", b"1e300", b".")) + data[end:]


def change_packed(data: bytes, chance: Random) -> bytes:
    """A deflated stream is altered and deflated again, and its length is not."""
    start, end = places_of(_STREAM, data, chance)
    match = _STREAM.match(data, start)
    if match is None:
        return flip(data, chance)
    start, end = match.span(1)
    try:
        text = zlib.decompressobj().decompress(data[start:end], 10_000_000)
    except zlib.error:
        return data[:start] + flip(data[start:end], chance) + data[end:]
    return data[:start] + zlib.compress(change_content(text, chance)) + data[end:]


BYTE_CHANGES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    *(flip, scribble, delete, insert, truncate, duplicate, swap_objects, swap_numbers, change_key, change_key),
    *(change_key, change_reference, change_reference, change_xref, change_number, change_packed),
)


def put_token(data: bytes, chance: Random) -> bytes:
    """A token stands between, once or many times."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(TOKENS) * chance.choice((1, 1, 1, 200)) + data[at:]


def change_content(data: bytes, chance: Random) -> bytes:
    """What a stream unpacks to is altered."""
    return chance.choice((flip, scribble, delete, insert, truncate, duplicate, change_number, put_token, put_token))(
        data, chance
    )


# Changes of a document that is saved in order ----------------------------------------------------------------------


def random_value(pdf: pikepdf.Pdf, chance: Random, depth: int = 0) -> Any:
    """A value of any type, or some object of the document."""
    choice = chance.randrange(8)
    if choice == 0:
        return chance.choice((0, -1, 1, 7, 255, 65_536, 2**31 - 1, 2**31, -(2**31), 2**62))
    if choice == 1:
        return pikepdf.Object.parse(chance.choice((b"0.5", b"-0.00001", b"100000000.5", b"999999999999.0")))
    if choice == 2:
        return pikepdf.Name("/" + chance.choice(KEYS))
    if choice == 3:
        return pikepdf.String(chance.choice(("", "text", "\0\1\2", "x" * 2_000)))
    if choice == 4 and depth < 4:
        return pikepdf.Array([random_value(pdf, chance, depth + 1) for _ in range(chance.choice((0, 1, 6, 60)))])
    if choice == 5 and depth < 4:
        return pikepdf.Dictionary({f"/{chance.choice(KEYS)}": random_value(pdf, chance, depth + 1)})
    return chance.choice(list(pdf.objects))


def change_entry(pdf: pikepdf.Pdf, chance: Random) -> None:
    """An entry of a dictionary or an array is another, is missing, or is new."""
    items: list[Any] = [each for each in pdf.objects if isinstance(each, (pikepdf.Dictionary, pikepdf.Stream))]
    item: Any = chance.choice(items or [pdf.Root])
    keys = sorted(item.keys())
    while keys:
        key = chance.choice(keys)
        value = item[key]
        if isinstance(value, pikepdf.Dictionary) and not value.is_indirect and chance.random() < 0.7:
            item, keys = value, sorted(value.keys())
            continue
        if isinstance(value, pikepdf.Array) and len(value) and chance.random() < 0.7:
            value[chance.randrange(len(value))] = random_value(pdf, chance)
        elif chance.random() < 0.15:
            del item[key]
        else:
            item[key] = random_value(pdf, chance)
        return
    item[f"/{chance.choice(KEYS)}"] = random_value(pdf, chance)


def change_stream(pdf: pikepdf.Pdf, chance: Random) -> None:
    """What a stream unpacks to is altered: a page's content, a font, a table of characters."""
    streams = [each for each in pdf.objects if isinstance(each, pikepdf.Stream)]
    if not streams:
        return
    item = chance.choice(streams)
    item.write(change_content(item.read_bytes(), chance))


DOCUMENT_CHANGES: Final[tuple[Callable[[pikepdf.Pdf, Random], None], ...]] = (change_entry, change_stream)


def in_order(data: bytes, chance: Random, names: list[str]) -> bytes:
    """A document with altered objects, saved without a fault in its structure; as it was where that cannot be."""
    out = BytesIO()
    try:
        with pikepdf.open(BytesIO(data)) as pdf:
            for _ in range(chance.randint(1, CHANGES_MAX)):
                change = chance.choice(DOCUMENT_CHANGES)
                change(pdf, chance)
                names.append(change.__name__)
            encryption: Any = pikepdf.Encryption(owner="owner", user="") if pdf.is_encrypted else False
            pdf.save(
                out,
                encryption=encryption,
                static_id=True,
                fix_metadata_version=False,
                compress_streams=chance.random() < 0.5,
            )
    except (pikepdf.PdfError, KeyError):  # pikepdf's refusal of a change, such as that of /Length
        return data
    return out.getvalue()


# Documents without a base -------------------------------------------------------------------------------------------

WORDS: Final = (
    *(
        "Alder Holdings",
        "Total",
        "Subtotal:",
        "1,234.50",
        "(12.30)",
        "8.90%",
        "$",
        "$ 5.00",
        "30-Sep-2024",
        "2024-09-30",
    ),
    *(
        "Par Amount",
        "(continued)",
        "Page 1 of 2",
        "-",
        "N/A",
        "LX00001",
        "*",
        "(1)",
        "1",
        "2",
        "st",
        "B2",
        "CCC+",
        "0.00",
    ),
    *("Issuer Name that is so long that it wraps in most columns of any table", "\x07", "\xad", "x", "...", "9" * 40),
)
SIZES: Final = (1.0, 4.0, 5.0, 7.0, 8.0, 8.0, 8.0, 9.0, 12.0, 40.0)
TURNS: Final = (b"1 0 0 1", b"0 1 -1 0", b"-1 0 0 -1", b"0 -1 1 0", b"0.7 0.7 -0.7 0.7", b"2 0 0 1", b"-1 0 0 1")


def random_pages(chance: Random) -> bytes:
    """A document of texts anywhere, or in rows and columns that are kept more or less."""
    columns = [chance.uniform(10, 580) for _ in range(chance.randint(1, 12))]
    turn = chance.choice(TURNS) if chance.random() < 0.3 else TURNS[0]
    header = [chance.choice(WORDS) for _ in columns]
    contents = []
    for _ in range(chance.randint(1, 4)):
        noise, top, step = chance.choice((0.0, 0.0, 0.5, 5.0, 300.0)), chance.uniform(300, 790), chance.uniform(0.5, 20)
        parts = []
        for line in range(chance.randint(0, 60)):
            for column, left in enumerate(columns):
                if chance.random() < 0.8:
                    text = header[column] if line == 1 else chance.choice(WORDS)
                    x, y = left + chance.gauss(0, noise), top - step * line + chance.gauss(0, noise / 10)
                    own_turn = turn if chance.random() < 0.97 else chance.choice(TURNS)
                    escaped = text.replace("(", "\\(").replace(")", "\\)").encode("latin-1")
                    size = chance.choice(SIZES) if chance.random() < 0.1 else 8.0
                    parts.append(b"/F1 %g Tf %b %.3f %.3f Tm (%b) Tj" % (size, own_turn, x, y, escaped))
        contents.append(b"BT " + b" ".join(parts) + b" ET")
    return document(contents, page=chance.choice((b"", b"/Rotate 90", b"/Rotate 270", b"/CropBox[100 100 400 500]")))


class Mutant(NamedTuple):
    """An altered document."""

    base: str
    changes: str
    data: bytes


def mutant_of(bases: Mapping[str, bytes], seed: int, number: int) -> Mutant:
    """The mutant of a number: the same for the same bases and seed, but for what encryption takes at random."""
    chance = Random(f"{seed} {number}")
    if number % WITHOUT_BASE == 0:
        return Mutant("none", "random_pages", random_pages(chance))
    base = chance.choice(sorted(bases))
    data, names = bases[base], list[str]()
    way = chance.random()
    if way < 0.5:
        data = in_order(data, chance, names)
    if way >= 0.4:
        for _ in range(chance.randint(1, CHANGES_MAX)):
            change = chance.choice(BYTE_CHANGES)
            data = change(data, chance)
            names.append(change.__name__)
    return Mutant(base, " ".join(names), data)


# Trying ---------------------------------------------------------------------------------------------------------------

BAD_SHOWN: Final = 60


def _tried(number: int, *, folder: Path, seed: int, keep: Path | None) -> tuple[int, Mutant, Outcome]:
    mutant = mutant_of(_bases(folder), seed, number)
    with TemporaryDirectory(prefix="mutant-") as name:
        path, out = Path(name) / "mutant.pdf", Path(name) / "out"
        out.mkdir()
        path.write_bytes(mutant.data)
        outcome = read_in_fork(path, out, checked_pages)
    if keep is not None and outcome.result not in ("read", "refused"):
        (keep / f"{seed}-{number}-{outcome.result}.pdf").write_bytes(mutant.data)
    return number, mutant._replace(data=b""), outcome


@cache
def _bases(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.pdf"))}


def outcomes(
    count: int, seed: int, *, workers: int = 2, keep: Path | None = None, first: int = 0
) -> Iterator[tuple[int, Mutant, Outcome]]:
    """Yield what became of each mutant, with its number."""
    with TemporaryDirectory(prefix="bases-") as name, TemporaryDirectory(prefix="soffice-") as apart:
        folder = Path(name)
        for base, data in base_documents(Path(apart)).items():
            (folder / f"{base}.pdf").write_bytes(data)
        work = partial(_tried, folder=folder, seed=seed, keep=keep)
        with pool(workers) as workers_pool:
            yield from workers_pool.map(work, range(first, first + count), chunksize=10)


def differing(seed: int, numbers: Sequence[int]) -> Iterator[str]:
    """Yield what `read_isolated` says otherwise than a fork, of some mutants of one and the same document."""
    bases = {"reportlab": by_reportlab()}
    with TemporaryDirectory(prefix="mutant-") as name, pool() as process:
        path, out = Path(name) / "mutant.pdf", Path(name) / "out"
        out.mkdir()
        for number in numbers:
            path.write_bytes(mutant_of(bases, seed, number).data)
            forked = process.submit(read_in_fork, path, out, checked_pages).result()
            try:
                whole = checked_pages(read_isolated(path))
            except FileRefused as refused:
                whole = checked_hint(refused.hint)
            is_same = (whole.result, whole.text) == (forked.result, forked.text)
            is_stopped = whole.result == "refused" and forked.result not in ("read", "refused")
            if not is_same and not is_stopped:
                yield f"mutant {number}: {whole} by read_isolated, {forked} by a fork"


def main() -> int:
    """Print what became of the mutants; 1 where one of them did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--isolated", type=int, default=0, help="how many are read by read_isolated as well")
    parser.add_argument("--keep", type=Path, help="a folder for mutants that crash or do not pass")
    args = parser.parse_args()
    if args.keep:
        args.keep.mkdir(exist_ok=True)
    began, results, slowest, largest = time.monotonic(), Counter[str](), (0.0, ""), (0, "")
    hints, bad = Counter[str](), list[str]()
    for number, mutant, outcome in outcomes(
        args.count, args.seed, workers=args.workers, keep=args.keep, first=args.first
    ):
        results[outcome.result] += 1
        line = f"mutant {number} of {mutant.base!r} ({mutant.changes}): {outcome.result}, {outcome.text}"
        slowest, largest = max(slowest, (outcome.seconds, line)), max(largest, (outcome.megabytes, line))
        hints[f"{outcome.result}: {outcome.text}"] += 1
        if outcome.result in BAD:
            bad.append(line)
    bad += differing(args.seed, range(args.first, args.first + args.isolated))
    for text, count in hints.most_common(40):
        print(f"{count:6,}  {text}")
    print(*bad[:BAD_SHOWN], sep="\n")
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}\nlargest: {largest[0]:,} MB, {largest[1]}")
    print(f"{args.count:,} mutants in {time.monotonic() - began:.0f} s: {dict(results)}; {len(bad)} did not pass")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
