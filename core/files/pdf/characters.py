"""The characters of a PDF's pages with their places, as PDFium gives them.

Coordinates are those of the page's own space, in points, whatever its /Rotate says: the direction of the text decides.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from numpy.typing import NDArray

from core.files.errors import ParseFailed
from core.files.pdf._characters import read_characters
from core.files.pdf.limits import CHARACTERS_MAX, PAGE_CHARACTERS_MAX, PAGES_MAX

_ERRORS: Final = {
    pdfium.FPDF_ERR_PASSWORD: "The PDF is protected by a password; remove it and send the file again.",
    pdfium.FPDF_ERR_SECURITY: "The PDF is protected in a way that no program opens without its owner's key.",
}
_DAMAGED: Final = "The PDF is damaged: its pages cannot be found. Print it to a new PDF and send that."

_PRIVATE: Final = ((0xE000, 0xF8FF), (0xF0000, 0x10FFFF))
_SYMBOL_ENCODED: Final = (0xF020, 0xF0FF)
"""Where fonts with Windows' symbol encoding have ASCII and Latin-1."""
_DINGBATS: Final = ("wingding", "webding", "dingbat", "symbol", "bullet", "awesome", "icon")
"""Words in the names of fonts whose characters are pictures."""

UNREADABLE_MAX: Final = 20
"""Characters without a meaning that a font may have on a page: marks, which are left out and remarked,"""
UNREADABLE_SHARE: Final = 0.05
"""or such a share of the page's characters."""
BULLETS: Final = 2
"""Characters without a meaning of a font that has no others: bullets, which are left out."""
PICTURE_SHARE: Final = 0.3
"""Of a page, what its pictures cover at least where they may be its text,"""
DRAWINGS: Final = 100
"""or how many objects it has."""
_UNNAMED: Final = "without a name, of drawings (Type 3)"
_INVISIBLE: Final = (3, 7)
"""How text is drawn that is not seen (ISO 32000-1, table 106): what a program recognised in a picture, say."""


@dataclass(frozen=True, slots=True)
class PageCharacters:
    """The characters of a page in the order of its content, in equally long arrays."""

    number: int
    """From 1."""
    codes: NDArray[np.uint32]
    """Unicode; 0 where the font says none."""
    boxes: NDArray[np.float64]
    """Left, bottom, right, top by advance width and line height: (count, 4)."""
    origins: NDArray[np.float64]
    """Where each character stands on its baseline: (count, 2)."""
    angles: NDArray[np.float64]
    """Clockwise, in radians."""
    objects: NDArray[np.uint64]
    """Which piece of the page's content each was printed by: programs print a cell in one piece."""
    crop: tuple[float, float, float, float]
    """What of the page is shown: left, bottom, right, top."""
    has_pictures: bool
    """A picture or many drawings stand on it, and may be its text."""
    unreadable: dict[str, int]
    """Characters without a meaning that were left out, by the names of their fonts."""


def read_pages(data: bytes) -> Iterator[PageCharacters]:
    """Yield the characters of each page.

    Raises:
        ParseFailed: damaged, protected by a password, past a limit, or in a font whose characters have no meaning.
    """
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        raise ParseFailed(_ERRORS.get(pdfium.FPDF_GetLastError(), _DAMAGED))
    try:
        count = pdfium.FPDF_GetPageCount(document)
        if count < 1:
            raise ParseFailed(_DAMAGED)
        if count > PAGES_MAX:
            raise ParseFailed(f"The PDF has {count:,} pages; the limit is {PAGES_MAX:,}.")
        total = 0
        for index in range(count):
            page = _read_page(document, index)
            total += len(page.codes)
            if total > CHARACTERS_MAX:
                raise ParseFailed(
                    f"The PDF has more characters than the limit of {CHARACTERS_MAX:,}; page {index + 1} passes it."
                )
            yield page
    finally:
        pdfium.FPDF_CloseDocument(document)


def _read_page(document: pdfium.FPDF_DOCUMENT, index: int) -> PageCharacters:
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        raise ParseFailed(f"Page {index + 1} of the PDF is damaged. Print it to a new PDF and send that.")
    try:
        text_page = pdfium.FPDFText_LoadPage(page)
        if not text_page:
            raise ParseFailed(f"Page {index + 1} of the PDF is damaged. Print it to a new PDF and send that.")
        try:
            count = pdfium.FPDFText_CountChars(text_page)
            if count > PAGE_CHARACTERS_MAX:
                raise ParseFailed(
                    f"Page {index + 1} of the PDF has {count:,} characters; the limit is {PAGE_CHARACTERS_MAX:,}."
                )
            return _characters(page, text_page, index + 1, max(0, count))
        finally:
            pdfium.FPDFText_ClosePage(text_page)
    finally:
        pdfium.FPDF_ClosePage(page)


def _characters(page: pdfium.FPDF_PAGE, text_page: pdfium.FPDF_TEXTPAGE, number: int, count: int) -> PageCharacters:
    handle = ctypes.cast(text_page, ctypes.c_void_p).value or 0
    table, objects = read_characters(handle, count, *_CALLS)
    unreadable: dict[str, list[int]] = {}
    is_odd = (table[:, 8] != 0) | (table[:, 0] == 0) | (table[:, 0] >= _PRIVATE[0][0])
    for at in np.flatnonzero(is_odd).tolist():
        table[at, 0] = _meaning(text_page, at, table[at], unreadable)
    _check_fonts(unreadable, number, int((table[:, 9] >= 0).sum()))
    is_kept = np.isfinite(table).all(1) & ~np.isin(table[:, 9], _INVISIBLE)
    table, objects = table[is_kept], objects[is_kept]
    return PageCharacters(
        number,
        codes=table[:, 0].astype(np.uint32),
        boxes=table[:, 1:5],
        origins=table[:, 5:7],
        angles=table[:, 7],
        objects=objects,
        crop=_crop(page),
        has_pictures=_has_pictures(page),
        unreadable={name: len(codes) for name, codes in unreadable.items() if len(set(codes)) > BULLETS},
    )


_CALLS: Final = tuple(
    ctypes.cast(function, ctypes.c_void_p).value or 0
    for function in (
        pdfium.FPDFText_GetUnicode,
        pdfium.FPDFText_GetLooseCharBox,
        pdfium.FPDFText_GetCharOrigin,
        pdfium.FPDFText_GetCharAngle,
        pdfium.FPDFText_GetTextObject,
        pdfium.FPDFText_HasUnicodeMapError,
        pdfium.FPDFTextObj_GetTextRenderMode,
    )
)
"""Addresses of PDFium's functions, for the kernel."""


def _meaning(
    text_page: pdfium.FPDF_TEXTPAGE, at: int, row: NDArray[np.float64], unreadable: dict[str, list[int]]
) -> int:
    """Return the Unicode of an odd character.

    0 for a picture, and for one without a meaning, which is noted.
    """
    code, is_unknown = int(row[0]), bool(row[8])
    is_private = any(low <= code <= high for low, high in _PRIVATE)
    if code and not is_private and not is_unknown:
        return code
    if row[9] < 0 or code == ord(" "):
        return code if code == ord(" ") else 0
    name = _font_name(text_page, at)
    if any(word in name.lower() for word in _DINGBATS):
        return 0
    if _SYMBOL_ENCODED[0] <= code <= _SYMBOL_ENCODED[1]:
        return code - 0xF000
    unreadable.setdefault(name, []).append(code)
    return 0


def _check_fonts(unreadable: dict[str, list[int]], page: int, count: int) -> None:
    """Refuse a page with much text in a font whose characters have no meaning.

    Raises:
        ParseFailed: with the font's name.
    """
    for name, codes in unreadable.items():
        if len(codes) > max(UNREADABLE_MAX, UNREADABLE_SHARE * count) and len(set(codes)) > BULLETS:
            raise ParseFailed(
                f"The text of page {page} is in the font {name!r}, which does not say what its characters mean, so it "
                "cannot be read. Ask for the report as a spreadsheet or as a PDF with plain fonts."
            )


def _font_name(text_page: pdfium.FPDF_TEXTPAGE, at: int) -> str:
    flags = ctypes.c_int()
    buffer = ctypes.create_string_buffer(128)
    size = pdfium.FPDFText_GetFontInfo(text_page, at, buffer, len(buffer), ctypes.byref(flags))
    name = buffer.raw[: min(max(0, size - 1), len(buffer))].decode("utf-8", "replace")
    return "".join(sign for sign in name if sign.isprintable()).partition("+")[2] or name or _UNNAMED


def _crop(page: pdfium.FPDF_PAGE) -> tuple[float, float, float, float]:
    """Return what of a page is shown, as PDFium takes it.

    Boxes that are none count as a letter's.
    """
    box = pdfium.FS_RECTF()
    if not pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(box)):
        return -np.inf, -np.inf, np.inf, np.inf
    return min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top)


def _has_pictures(page: pdfium.FPDF_PAGE) -> bool:
    """Return whether pictures cover much of a page, as a scan does.

    Or so many lines are drawn that they may be letters.
    """
    count = pdfium.FPDFPage_CountObjects(page)
    if count > DRAWINGS:
        return True
    left, bottom, right, top = _crop(page)
    whole = (right - left) * (top - bottom)
    covered = 0.0
    sides = [ctypes.c_float() for _ in range(4)]
    places = [ctypes.byref(side) for side in sides]
    for at in range(count):
        item = pdfium.FPDFPage_GetObject(page, at)
        if pdfium.FPDFPageObj_GetType(item) not in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
            continue
        if pdfium.FPDFPageObj_GetBounds(item, *places):
            covered += (sides[2].value - sides[0].value) * (sides[3].value - sides[1].value)
    return bool(covered > PICTURE_SHARE * whole)
