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
"""Characters without a meaning that a font may have: bullets and marks, which are left out."""


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
        fonts = _Fonts()
        total = 0
        for index in range(count):
            page = _read_page(document, index, fonts)
            total += len(page.codes)
            if total > CHARACTERS_MAX:
                raise ParseFailed(
                    f"The PDF has more characters than the limit of {CHARACTERS_MAX:,}; page {index + 1} passes it."
                )
            yield page
    finally:
        pdfium.FPDF_CloseDocument(document)


class _Fonts:
    """Characters of each font that have no meaning."""

    def __init__(self) -> None:
        self._unreadable: dict[str, int] = {}

    def count(self, name: str, page: int) -> None:
        """Count such a character.

        Raises:
            ParseFailed: the font has too many.
        """
        self._unreadable[name] = self._unreadable.get(name, 0) + 1
        if self._unreadable[name] > UNREADABLE_MAX:
            raise ParseFailed(
                f"The text of page {page} is in the font {name!r}, which does not say what its characters mean, so it "
                "cannot be read. Ask for the report as a spreadsheet or as a PDF with plain fonts."
            )


def _read_page(document: pdfium.FPDF_DOCUMENT, index: int, fonts: _Fonts) -> PageCharacters:
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
            return _characters(page, text_page, index + 1, max(0, count), fonts)
        finally:
            pdfium.FPDFText_ClosePage(text_page)
    finally:
        pdfium.FPDF_ClosePage(page)


def _characters(
    page: pdfium.FPDF_PAGE, text_page: pdfium.FPDF_TEXTPAGE, number: int, count: int, fonts: _Fonts
) -> PageCharacters:
    handle = ctypes.cast(text_page, ctypes.c_void_p).value or 0
    table, objects = read_characters(handle, count, *_CALLS)
    for at in np.flatnonzero((table[:, 0] == 0) | (table[:, 0] >= _PRIVATE[0][0])).tolist():
        table[at, 0] = _meaning(text_page, at, int(table[at, 0]), number, fonts)
    for at in _without_text(text_page, objects, number, fonts):
        table[at, 0] = 0
    is_finite = np.isfinite(table).all(1)
    table, objects = table[is_finite], objects[is_finite]
    codes, boxes, origins, angles = table[:, 0].astype(np.uint32), table[:, 1:5], table[:, 5:7], table[:, 7]
    return PageCharacters(number, codes, boxes, origins, angles, objects, _crop(page), _has_pictures(page))


def _without_text(
    text_page: pdfium.FPDF_TEXTPAGE, objects: NDArray[np.uint64], page: int, fonts: _Fonts
) -> Iterator[int]:
    """Yield the characters that are not drawn, and those whose codes PDFium took for want of a meaning."""
    pieces, firsts, of_piece = np.unique(objects, return_index=True, return_inverse=True)
    for place, (piece, first) in enumerate(zip(pieces.tolist(), firsts.tolist(), strict=True)):
        if piece and _mode_of(piece) in _INVISIBLE:
            yield from np.flatnonzero(of_piece == place).tolist()
        elif pdfium.FPDFText_HasUnicodeMapError(text_page, first) == 1:
            for at in np.flatnonzero(of_piece == place).tolist():
                if pdfium.FPDFText_HasUnicodeMapError(text_page, at) == 1:
                    _count_unreadable(text_page, at, page, fonts)
                    yield at


def _count_unreadable(text_page: pdfium.FPDF_TEXTPAGE, at: int, page: int, fonts: _Fonts) -> None:
    name = _font_name(text_page, at)
    if not any(word in name.lower() for word in _DINGBATS):
        fonts.count(name, page)


_mode_of = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(
    ctypes.cast(pdfium.FPDFTextObj_GetTextRenderMode, ctypes.c_void_p).value or 0
)
"""How the text of a piece is drawn."""
_INVISIBLE: Final = (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)

_CALLS: Final = tuple(
    ctypes.cast(function, ctypes.c_void_p).value or 0
    for function in (
        pdfium.FPDFText_GetUnicode,
        pdfium.FPDFText_GetLooseCharBox,
        pdfium.FPDFText_GetCharOrigin,
        pdfium.FPDFText_GetCharAngle,
        pdfium.FPDFText_GetTextObject,
    )
)
"""Addresses of PDFium's functions, for the kernel."""


def _meaning(text_page: pdfium.FPDF_TEXTPAGE, at: int, code: int, page: int, fonts: _Fonts) -> int:
    """Return the Unicode of a character outside of the scripts; 0 for a picture."""
    is_private = any(low <= code <= high for low, high in _PRIVATE)
    if code and not is_private:
        return code
    if pdfium.FPDFText_IsGenerated(text_page, at):
        return 0
    name = _font_name(text_page, at)
    if any(word in name.lower() for word in _DINGBATS):
        return 0
    if _SYMBOL_ENCODED[0] <= code <= _SYMBOL_ENCODED[1]:
        return code - 0xF000
    fonts.count(name, page)
    return 0


def _font_name(text_page: pdfium.FPDF_TEXTPAGE, at: int) -> str:
    flags = ctypes.c_int()
    buffer = ctypes.create_string_buffer(128)
    size = pdfium.FPDFText_GetFontInfo(text_page, at, buffer, len(buffer), ctypes.byref(flags))
    name = buffer.raw[: min(max(0, size - 1), len(buffer))].decode("utf-8", "replace")
    return "".join(sign for sign in name if sign.isprintable()).partition("+")[2] or name or "without a name"


def _crop(page: pdfium.FPDF_PAGE) -> tuple[float, float, float, float]:
    sides = [ctypes.c_float() for _ in range(4)]
    places = [ctypes.byref(side) for side in sides]
    if not pdfium.FPDFPage_GetCropBox(page, *places) and not pdfium.FPDFPage_GetMediaBox(page, *places):
        return -np.inf, -np.inf, np.inf, np.inf
    left, bottom, right, top = (side.value for side in sides)
    return min(left, right), min(bottom, top), max(left, right), max(bottom, top)


def _has_pictures(page: pdfium.FPDF_PAGE) -> bool:
    """Return whether a picture is among the page's first objects, as on a scan."""
    count = min(pdfium.FPDFPage_CountObjects(page), 50)
    kinds = (pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, at)) for at in range(count))
    return any(kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM) for kind in kinds)
